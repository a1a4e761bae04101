import { z } from "zod";
import { object, raw } from "../schema/fields.ts";
import { camelCase, count, dnsLabel, duration } from "../schema/syntax.ts";

/** MachineControllerManagerSettings contains configurations for different worker-pools. */
export const machineControllerManagerSettings = object({
  machineDrainTimeout: duration()
    .optional()
    .describe("MachineDrainTimeout is the period after which machine is forcefully deleted."),
  machineHealthTimeout: duration()
    .optional()
    .describe("MachineHealthTimeout is the period after which machine is declared failed."),
  machineCreationTimeout: duration()
    .optional()
    .describe("MachineCreationTimeout is the period after which creation of the machine is declared failed."),
  maxEvictRetries: count()
    .optional()
    .describe(
      "MaxEvictRetries are the number of eviction retries on a pod after which drain is declared failed, and forceful deletion is triggered.",
    ),
  nodeConditions: z
    .array(camelCase())
    .meta({ maxItems: 50 })
    .optional()
    .describe(
      "NodeConditions are the set of conditions if set to true for the period of MachineHealthTimeout, machine will be declared failed.",
    ),
  inPlaceUpdateTimeout: duration()
    .optional()
    .describe("MachineInPlaceUpdateTimeout is the timeout after which in-place update is declared failed."),
  disableHealthTimeout: z
    .boolean()
    .optional()
    .describe("DisableHealthTimeout if set to true, health timeout will be ignored."),
  machinePreserveTimeout: duration()
    .optional()
    .describe("MachinePreserveTimeout defines the duration after which machine preservation is disabled."),
  autoPreserveFailedMachineMax: count()
    .optional()
    .describe(
      "AutoPreserveFailedMachineMax is the maximum number of machines that can be auto-preserved by MCM for the worker pool.",
    ),
});

const containerRuntime = object({
  type: dnsLabel().describe("Type is the type of the Container Runtime."),
  providerConfig: raw()
    .optional()
    .describe("ProviderConfig is the configuration passed to container runtime resource."),
});

/** CRI contains information about the Container Runtimes. */
export const cri = object({
  name: dnsLabel().describe("The name of the CRI library. Supported values are 'containerd'."),
  containerRuntimes: z
    .array(containerRuntime)
    .meta({ maxItems: 20 })
    .optional()
    .describe("ContainerRuntimes is the list of the required container runtimes supported for a worker pool."),
});
