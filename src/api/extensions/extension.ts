import type { z } from "zod";
import { object } from "../schema/fields.ts";
import { defaultSpec, defaultStatus } from "./defaults.ts";
import { defineExtension } from "./define-extension.ts";

const extensionSpec = object({
  ...defaultSpec.shape,
});

const extensionStatus = object({
  ...defaultStatus.shape,
});

/** Something that a Shoot, Seed or garden has besides the standard parts. */
export const Extension = defineExtension({
  kind: "Extension",
  plural: "extensions",
  shortNames: ["ext"],
  scope: "Namespaced",
  description: "Something that a Shoot, Seed or garden has besides the standard parts.",
  content: { spec: extensionSpec, status: extensionStatus.optional() },
  columns: [
    { name: "Type", path: ".spec.type" },
    { name: "Status", path: ".status.lastOperation.state" },
  ],
  contract: {
    writer: "other",
    stateful: true,
    cluster: "sometimes",
    admission: "always",
    types: ({ shoot }) =>
      (shoot.spec.extensions ?? []).filter(({ disabled }) => disabled !== true).map(({ type }) => type),
  },
});

/** Something that a Shoot, Seed or garden has besides the standard parts. */
export type Extension = z.infer<typeof Extension.schema>;
