import { z } from "zod";
import { accessRestriction } from "./access-restriction.ts";
import { expirableVersion, machineImage } from "./machine-image.ts";
import { machineType, volumeType } from "./machine-type.ts";
import { object, onceSet, raw } from "../schema/fields.ts";
import { count } from "../schema/syntax.ts";
import { seedSelector } from "./seed-selector.ts";

/** KubernetesSettings contains constraints regarding allowed values of the 'kubernetes' block in the Shoot specification. */
export const kubernetesSettings = object({
  versions: z
    .array(expirableVersion)
    .optional()
    .describe("Versions is the list of allowed Kubernetes versions with optional expiration dates for Shoot clusters."),
});

const availabilityZone = object({
  name: z.string().describe("Name is an availability zone name."),
  unavailableMachineTypes: z
    .array(z.string())
    .optional()
    .describe("UnavailableMachineTypes is a list of machine type names that are not availability in this zone."),
  unavailableVolumeTypes: z
    .array(z.string())
    .optional()
    .describe("UnavailableVolumeTypes is a list of volume type names that are not availability in this zone."),
});

const region = object({
  name: z.string().describe("Name is a region name."),
  zones: z.array(availabilityZone).optional().describe("Zones is a list of availability zones in this region."),
  labels: z
    .record(z.string(), z.string())
    .optional()
    .describe(
      "Labels is an optional set of key-value pairs that contain certain administrator-controlled labels for this region.",
    ),
  accessRestrictions: z
    .array(accessRestriction)
    .optional()
    .describe(
      "AccessRestrictions describe a list of access restrictions that can be used for Shoots using this region.",
    ),
});

/** Limits configures operational limits for Shoot clusters. */
export const limits = object({
  maxNodesTotal: count(1)
    .optional()
    .describe("MaxNodesTotal configures the maximum node count a Shoot cluster can have during runtime."),
});

/** CloudProfileSpec is the specification of a CloudProfile. */
export const cloudProfileSpec = object({
  caBundle: z
    .string()
    .meta({ maxLength: 1_048_576 })
    .optional()
    .describe(
      "CABundle is a certificate bundle which will be installed onto every host machine of shoot cluster targeting this profile.",
    ),
  kubernetes: kubernetesSettings.describe(
    "Kubernetes contains constraints regarding allowed values of the 'kubernetes' block in the Shoot specification.",
  ),
  machineImages: z
    .array(machineImage)
    .describe(
      "MachineImages contains constraints regarding allowed values for machine images in the Shoot specification.",
    ),
  machineTypes: z
    .array(machineType)
    .meta({ maxItems: 5000 })
    .describe(
      "MachineTypes contains constraints regarding allowed values for machine types in the 'workers' block in the Shoot specification.",
    ),
  providerConfig: raw().optional().describe("ProviderConfig contains provider-specific configuration for the profile."),
  regions: z.array(region).describe("Regions contains constraints regarding allowed values for regions and zones."),
  seedSelector: seedSelector
    .optional()
    .describe(
      "SeedSelector contains an optional list of labels on 'Seed' resources that marks those seeds whose shoots may use this provider profile.",
    ),
  type: z.string().describe("Type is the name of the provider."),
  volumeTypes: z
    .array(volumeType)
    .optional()
    .describe(
      "VolumeTypes contains constraints regarding allowed values for volume types in the 'workers' block in the Shoot specification.",
    ),
  bastion: raw().optional().describe("Bastion contains the machine and image properties"),
  limits: limits
    .optional()
    .describe("Limits configures operational limits for Shoot clusters using this CloudProfile."),
  machineCapabilities: z
    .array(raw())
    .optional()
    .describe("MachineCapabilities contains the definition of all possible capabilities in the CloudProfile."),
  controlPlane: raw()
    .optional()
    .describe(
      "ControlPlane holds settings that control what control-plane-related features shoots using this CloudProfile may configure.",
    ),
}).meta(onceSet("type"));

const expirableVersionStatus = object({
  version: z.string().optional().describe("Version is the version identifier."),
  classification: z
    .string()
    .optional()
    .describe("Classification reflects the current state in the classification lifecycle."),
});

const kubernetesStatus = object({
  versions: z
    .array(expirableVersionStatus)
    .optional()
    .describe("Versions contains the statuses of the kubernetes versions."),
});

const machineImageStatus = object({
  name: z.string().optional().describe("Name matches the name of the MachineImage the status is represented of."),
  versions: z
    .array(expirableVersionStatus)
    .optional()
    .describe("Versions contains the statuses of the machine image versions."),
});

/** CloudProfileStatus contains the status of the cloud profile. */
export const cloudProfileStatus = object({
  kubernetes: kubernetesStatus.optional().describe("Kubernetes contains the status information for kubernetes."),
  machineImages: z
    .array(machineImageStatus)
    .optional()
    .describe("MachineImages contains the statuses of the machine image versions."),
});
