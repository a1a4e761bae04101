import type { z } from "zod";
import { object } from "../schema/fields.ts";
import { defaultSpec, defaultStatus } from "./defaults.ts";
import { defineExtension, minutes, seconds } from "./define-extension.ts";
import { extensionPhases, phaseOf } from "./lifecycle.ts";

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
    writer: "flow",
    stateful: true,
    cluster: "sometimes",
    admission: "always",
    types: ({ shoot }) =>
      (shoot.spec.extensions ?? []).filter(({ disabled }) => disabled !== true).map(({ type }) => type),
    purposes: extensionPhases,
    purposeAt: phaseOf,
    severeAfter: seconds(30),
    deadline: minutes(3),
    trigger: "always",
  },
});

/** Something that a Shoot, Seed or garden has besides the standard parts. */
export type Extension = z.infer<typeof Extension.schema>;
