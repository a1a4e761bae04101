import { z } from "zod";
import { conditions } from "../schema/meta.ts";
import { defineResource } from "../schema/resource.ts";
import { object } from "../schema/fields.ts";

const managedResourceSpec = object({
  class: z.string().optional().describe("Class is which resource manager applies it: `seed`, or the Shoot's without."),
  secretRefs: z
    .array(object({ name: z.string().describe("Name of the Secret.") }))
    .describe("SecretRefs name the Secrets of the same namespace whose values are manifests, one file a key."),
  injectLabels: z.record(z.string(), z.string()).optional().describe("InjectLabels are put on every object."),
  keepObjects: z
    .boolean()
    .optional()
    .describe("KeepObjects leaves the objects where they are when the ManagedResource is deleted."),
  forceOverwriteLabels: z
    .boolean()
    .optional()
    .describe("ForceOverwriteLabels removes labels of others from the objects."),
  forceOverwriteAnnotations: z
    .boolean()
    .optional()
    .describe("ForceOverwriteAnnotations removes annotations of others from the objects."),
  deletePersistentVolumeClaims: z
    .boolean()
    .optional()
    .describe("DeletePersistentVolumeClaims deletes the claims of a StatefulSet together with it."),
});

const managedResourceStatus = object({
  conditions: conditions.optional().describe("Conditions: ResourcesApplied, ResourcesHealthy, ResourcesProgressing."),
  observedGeneration: z.int().optional().describe("ObservedGeneration is the generation that was applied last."),
  secretsDataChecksum: z.string().optional().describe("SecretsDataChecksum is of what the Secrets held then."),
  resources: z
    .array(
      object({
        apiVersion: z.string().optional().describe("API version of the object."),
        kind: z.string().optional().describe("Kind of the object."),
        namespace: z.string().optional().describe("Namespace of the object."),
        name: z.string().optional().describe("Name of the object."),
      }),
    )
    .optional()
    .describe("Resources are the objects that were applied."),
});

/**
 * Manifests that upstream's gardener-resource-manager applies, prunes and watches over. Its CustomResourceDefinition is
 * upstream's own, and so it is not one of `resources`.
 */
export const ManagedResource = defineResource({
  group: "resources.gardener.cloud",
  version: "v1alpha1",
  kind: "ManagedResource",
  plural: "managedresources",
  shortNames: ["mr"],
  scope: "Namespaced",
  description: "Manifests that upstream's gardener-resource-manager applies, prunes and watches over.",
  content: { spec: managedResourceSpec, status: managedResourceStatus.optional() },
});

/** Manifests that upstream's gardener-resource-manager applies, prunes and watches over. */
export type ManagedResource = z.infer<typeof ManagedResource.schema>;
