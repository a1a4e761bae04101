import * as z from "zod";
import { declare, path, port } from "./variable.ts";

/** Where a process serves admission webhooks, and whom it answers. */
export const webhookVariables = declare({
  PERENNIAL_WEBHOOK_HOST: {
    setting: "webhookHost",
    meaning: "The address that the admission webhooks listen at. Without it, the process serves none.",
    schema: z.string().min(1).optional(),
    readBy: ["manager", "cluster-api"],
  },
  PERENNIAL_WEBHOOK_PORT: {
    setting: "webhookPort",
    meaning: "The port that the admission webhooks listen at.",
    schema: port.default(9443),
    readBy: ["manager", "cluster-api"],
  },
  PERENNIAL_WEBHOOK_SERVICE: {
    setting: "webhookService",
    meaning:
      "`namespace/name` of the Service through which API servers reach the webhooks. Without it, they call host and port.",
    schema: z
      .string()
      .regex(/^[^/]+\/[^/]+$/, "has to be namespace/name of a Service")
      .optional(),
    readBy: ["manager", "cluster-api"],
  },
  PERENNIAL_WEBHOOK_CLIENT_CA_FILE: {
    setting: "webhookClientCaFile",
    meaning:
      "The file of the certificate authority that signs the API servers' certificate for webhooks. Callers without such a certificate are turned away; without this file, the webhooks answer every caller.",
    schema: path,
    readBy: ["manager", "cluster-api"],
  },
});
