import { z } from "zod";
import { defineResource } from "../schema/resource.ts";
import { immutable, object, raw } from "../schema/fields.ts";
import { dnsSubdomain } from "../schema/syntax.ts";
import { cloudProfileSpec, kubernetesSettings, limits } from "./cloud-profile-spec.ts";
import { ownMachineImage } from "./machine-image.ts";
import { machineType, volumeType } from "./machine-type.ts";

const parent = object({
  kind: z
    .string()
    .meta({ enum: ["CloudProfile"] })
    .describe("Kind contains a CloudProfile kind."),
  name: dnsSubdomain().describe("Name contains the name of the referenced CloudProfile."),
});

const namespacedCloudProfileSpec = object({
  caBundle: z
    .string()
    .meta({ maxLength: 1_048_576 })
    .optional()
    .describe(
      "CABundle is a certificate bundle which will be installed onto every host machine of shoot cluster targeting this profile.",
    ),
  kubernetes: kubernetesSettings
    .optional()
    .describe(
      "Kubernetes contains constraints regarding allowed values of the 'kubernetes' block in the Shoot specification.",
    ),
  machineImages: z
    .array(ownMachineImage)
    .optional()
    .describe(
      "MachineImages contains constraints regarding allowed values for machine images in the Shoot specification.",
    ),
  machineTypes: z
    .array(machineType)
    .meta({ maxItems: 5000 })
    .optional()
    .describe(
      "MachineTypes contains constraints regarding allowed values for machine types in the 'workers' block in the Shoot specification.",
    ),
  volumeTypes: z
    .array(volumeType)
    .optional()
    .describe(
      "VolumeTypes contains constraints regarding allowed values for volume types in the 'workers' block in the Shoot specification.",
    ),
  parent: parent.meta(immutable()).describe("Parent contains a reference to a CloudProfile it inherits from."),
  providerConfig: raw().optional().describe("ProviderConfig contains provider-specific configuration for the profile."),
  limits: limits
    .optional()
    .describe("Limits configures operational limits for Shoot clusters using this NamespacedCloudProfile."),
});

const namespacedCloudProfileStatus = object({
  cloudProfileSpec: cloudProfileSpec
    .optional()
    .describe("CloudProfile is the most recently generated CloudProfile of the NamespacedCloudProfile."),
  observedGeneration: z
    .int()
    .optional()
    .describe("ObservedGeneration is the most recent generation observed for this NamespacedCloudProfile."),
});

/** What a project offers itself on top of a CloudProfile. */
export const NamespacedCloudProfile = defineResource({
  group: "core.gardener.cloud",
  version: "v1beta1",
  kind: "NamespacedCloudProfile",
  plural: "namespacedcloudprofiles",
  shortNames: ["ncpfl"],
  scope: "Namespaced",
  description: "What a project offers itself on top of a CloudProfile.",
  content: { spec: namespacedCloudProfileSpec, status: namespacedCloudProfileStatus.optional() },
  columns: [
    { name: "Parent", path: ".spec.parent.name" },
    { name: "Type", path: ".status.cloudProfileSpec.type" },
  ],
});

/** What a project offers itself on top of a CloudProfile. */
export type NamespacedCloudProfile = z.infer<typeof NamespacedCloudProfile.schema>;
