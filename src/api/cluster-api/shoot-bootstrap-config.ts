import { z } from "zod";
import { object, raw } from "../schema/fields.ts";
import { defineResource } from "../schema/resource.ts";
import { conditions } from "./condition.ts";
import { defineTemplate, providerKind } from "./provider-kind.ts";

const bootstrapStatus = object({
  initialization: object({
    dataSecretCreated: z.boolean().optional().describe("DataSecretCreated is true: there is nothing to wait for."),
  })
    .optional()
    .describe("Initialization is what has been reached once, and stays."),
  dataSecretName: z.string().optional().describe("DataSecretName is empty: the Shoot starts its machines itself."),
  conditions: conditions.optional().describe("Conditions: Paused."),
  observedGeneration: z
    .int()
    .optional()
    .describe("ObservedGeneration is the generation that the controller has acted on last."),
});

/** Does nothing: a Shoot starts its machines itself. ClusterClasses want a bootstrap template for each pool. */
export const ShootBootstrapConfig = defineResource({
  ...providerKind("bootstrap"),
  kind: "ShootBootstrapConfig",
  plural: "shootbootstrapconfigs",
  description:
    "Does nothing: a Shoot starts its machines itself. ClusterClasses want a bootstrap template for each pool.",
  content: { spec: raw().optional(), status: bootstrapStatus.optional() },
});

/** Does nothing: a Shoot starts its machines itself. */
export type ShootBootstrapConfig = z.infer<typeof ShootBootstrapConfig.schema>;

/** What the bootstrap configurations of a ClusterClass are made from. */
export const ShootBootstrapConfigTemplate = defineTemplate({
  provider: "bootstrap",
  kind: "ShootBootstrapConfigTemplate",
  plural: "shootbootstrapconfigtemplates",
  spec: raw().optional(),
});

/** What the bootstrap configurations of a ClusterClass are made from. */
export type ShootBootstrapConfigTemplate = z.infer<typeof ShootBootstrapConfigTemplate.schema>;
