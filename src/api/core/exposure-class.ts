import { z } from "zod";
import { toleration } from "../schema/references.ts";
import { defineResource } from "../schema/resource.ts";
import { immutable, object } from "../schema/fields.ts";
import { dnsLabel } from "../schema/syntax.ts";
import { seedSelector } from "./seed-selector.ts";

const exposureClassScheduling = object({
  seedSelector: seedSelector
    .optional()
    .describe("SeedSelector is an optional label selector for Seed's which are suitable to use the ExposureClass."),
  tolerations: z
    .array(toleration)
    .meta({ maxItems: 50 })
    .optional()
    .describe("Tolerations contains the tolerations for taints on Seed clusters."),
});

/** A way in which API servers of Shoots can be reached, and the Seeds that have it. */
export const ExposureClass = defineResource({
  group: "core.gardener.cloud",
  version: "v1beta1",
  kind: "ExposureClass",
  plural: "exposureclasses",
  shortNames: ["expclass", "expcls"],
  scope: "Cluster",
  description: "A way in which API servers of Shoots can be reached, and the Seeds that have it.",
  content: {
    handler: dnsLabel(34)
      .meta(immutable())
      .describe("Handler is the name of the handler which applies the control plane endpoint exposure strategy."),
    scheduling: exposureClassScheduling
      .meta(immutable())
      .optional()
      .describe("Scheduling holds information how to select applicable Seed's for ExposureClass usage."),
  },
  rules: [{ rule: "has(self.scheduling) == has(oldSelf.scheduling)", message: "scheduling cannot be changed" }],
  columns: [{ name: "Handler", path: ".handler" }],
});

/** A way in which API servers of Shoots can be reached, and the Seeds that have it. */
export type ExposureClass = z.infer<typeof ExposureClass.schema>;
