import { z } from "zod";
import { openEnum, object, raw, timestamp } from "../schema/fields.ts";
import { cri } from "../shoot/machines.ts";

/** ExpirableVersion contains a version with associated lifecycle information. */
export const expirableVersion = object({
  version: z.string().describe("Version is the version identifier."),
  expirationDate: timestamp()
    .optional()
    .describe("ExpirationDate defines the time at which this version expires. Deprecated."),
  classification: openEnum("preview", "supported", "deprecated", "expired", "unavailable")
    .optional()
    .describe("Classification defines the state of a version (preview, supported, deprecated). Deprecated."),
  lifecycle: z.array(raw()).optional().describe("Lifecycle defines the lifecycle stages for this version."),
});

const runtimes = z.array(cri);
const architectures = z.array(z.string());
const updateStrategy = z.enum(["patch", "minor", "major"]);

const machineImageVersion = object({
  ...expirableVersion.shape,
  cri: runtimes
    .meta({ default: [{ name: "containerd" }] })
    .optional()
    .describe("CRI list of supported container runtime and interfaces supported by this version"),
  architectures: architectures
    .meta({ default: ["amd64"] })
    .optional()
    .describe("Architectures is the list of CPU architectures of the machine image in this version."),
  kubeletVersionConstraint: z
    .string()
    .optional()
    .describe(
      "KubeletVersionConstraint is a constraint describing the supported kubelet versions by the machine image in this version.",
    ),
  inPlaceUpdates: raw()
    .optional()
    .describe("InPlaceUpdates contains the configuration for in-place updates for this machine image version."),
  capabilityFlavors: z.array(raw()).optional().describe("CapabilityFlavors is an array of MachineImageFlavor."),
});

/** MachineImage defines the name and multiple versions of the machine image in any environment. */
export const machineImage = object({
  name: z.string().describe("Name is the name of the image."),
  versions: z
    .array(machineImageVersion)
    .describe("Versions contains versions, expiration dates and container runtimes of the machine image"),
  updateStrategy: updateStrategy
    .meta({ default: "major" })
    .optional()
    .describe("UpdateStrategy is the update strategy to use for the machine image."),
});

/** A machine image of a project's own profile. It has no defaults, by which it would say more of its parent's versions than it does. */
export const ownMachineImage = object({
  name: z.string().describe("Name is the name of the image."),
  versions: z
    .array(
      object({
        ...machineImageVersion.shape,
        cri: runtimes
          .optional()
          .describe("CRI list of supported container runtime and interfaces supported by this version"),
        architectures: architectures
          .optional()
          .describe("Architectures is the list of CPU architectures of the machine image in this version."),
      }),
    )
    .describe("Versions contains versions, expiration dates and container runtimes of the machine image"),
  updateStrategy: updateStrategy
    .optional()
    .describe("UpdateStrategy is the update strategy to use for the machine image."),
});
