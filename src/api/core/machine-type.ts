import { z } from "zod";
import { object, raw } from "../schema/fields.ts";
import { quantity } from "../schema/syntax.ts";

const machineTypeStorage = object({
  class: z.string().describe("Class is the class of the storage type."),
  size: quantity().optional().describe("StorageSize is the storage size."),
  type: z.string().describe("Type is the type of the storage."),
  minSize: quantity().optional().describe("MinSize is the minimal supported storage size."),
});

/** MachineType contains certain properties of a machine type. */
export const machineType = object({
  cpu: quantity().describe("CPU is the number of CPUs for this machine type."),
  gpu: quantity().optional().describe("GPU is the number of GPUs for this machine type."),
  memory: quantity().describe("Memory is the amount of memory for this machine type."),
  name: z.string().describe("Name is the name of the machine type."),
  storage: machineTypeStorage
    .optional()
    .describe("Storage is the amount of storage associated with the root volume of this machine type."),
  usable: z
    .boolean()
    .meta({ default: true })
    .optional()
    .describe("Usable defines if the machine type can be used for shoot clusters."),
  architecture: z
    .string()
    .meta({ default: "amd64" })
    .optional()
    .describe("Architecture is the CPU architecture of this machine type."),
  capabilities: z
    .record(z.string(), z.array(z.string()))
    .optional()
    .describe("Capabilities contains the machine type capabilities."),
  machineControllerManager: raw()
    .optional()
    .describe(
      "MachineControllerManagerSettings contains a subset of the MachineControllerManagerSettings which can be defaulted for a machine type in a CloudProfile.",
    ),
});

/** VolumeType contains certain properties of a volume type. */
export const volumeType = object({
  class: z.string().describe("Class is the class of the volume type."),
  name: z.string().describe("Name is the name of the volume type."),
  usable: z
    .boolean()
    .meta({ default: true })
    .optional()
    .describe("Usable defines if the volume type can be used for shoot clusters."),
  minSize: quantity().optional().describe("MinSize is the minimal supported storage size."),
});
