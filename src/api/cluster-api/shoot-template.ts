import type { z } from "zod";
import { object } from "../schema/fields.ts";
import { kubernetes } from "../shoot/kubernetes.ts";
import { provider } from "../shoot/provider.ts";
import { shootSpec } from "../shoot/spec.ts";
import { templateMetadata } from "./provider-kind.ts";

/**
 * A Shoot's spec without what other objects of Cluster API own: the version is `spec.version` of the control plane, and the
 * rows of workers are MachinePools. The Shoot's own admission judges the rest.
 */
export const shootTemplateSpec = object({
  ...shootSpec.shape,
  kubernetes: kubernetes
    .omit({ version: true })
    .optional()
    .describe("Kubernetes contains the settings of the control plane's components, without the version."),
  region: shootSpec.shape.region.optional(),
  provider: provider
    .omit({ workers: true })
    .describe("Provider contains all provider-specific information, without the workers: each is a MachinePool."),
});

/** What a Shoot is made from, besides version and workers. */
export const shootTemplate = object({
  metadata: templateMetadata.optional().describe("Metadata of the Shoot."),
  spec: shootTemplateSpec.describe("Spec of the Shoot, without its version and its workers."),
});

/** What a Shoot is made from, besides version and workers. */
export type ShootTemplate = z.infer<typeof shootTemplate>;
