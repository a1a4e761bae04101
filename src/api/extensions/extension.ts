import type { z } from "zod";
import { DELETION_PROTECTED_LABEL } from "../annotations.ts";
import { defineResource } from "../schema/resource.ts";
import { object } from "../schema/fields.ts";
import { defaultSpec, defaultStatus } from "./defaults.ts";

const extensionSpec = object({
  ...defaultSpec.shape,
});

const extensionStatus = object({
  ...defaultStatus.shape,
});

/** Something that a Shoot, Seed or garden has besides the standard parts. */
export const Extension = defineResource({
  group: "extensions.gardener.cloud",
  version: "v1alpha1",
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
  labels: { [DELETION_PROTECTED_LABEL]: "true" },
});

/** Something that a Shoot, Seed or garden has besides the standard parts. */
export type Extension = z.infer<typeof Extension.schema>;
