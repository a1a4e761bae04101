import { machineStateOf, readMachineObjects } from "../activities/machines/state.ts";
import type { ExtensionObject } from "../api/extensions/kinds.ts";
import type { KubeClient } from "../kube/index.ts";

/** What is written into an object's status before it is restored. */
export interface Kept {
  readonly state?: unknown;
  readonly resources?: unknown;
}

/**
 * What a seed keeps of an object for the next one. Of a Worker whose controller asks machine-controller-manager for machines,
 * these are kept, as flows do it (contract section C2.6): its controller restores nothing without them.
 */
export async function keptOf(client: KubeClient, { kind, metadata, status }: ExtensionObject): Promise<Kept> {
  const { state, resources }: Kept = { ...status }; // only kinds that move have resources
  if (kind !== "Worker" || (state ?? undefined) !== undefined) return { state, resources };
  const machines = await readMachineObjects(client, metadata.namespace);
  return machines.deployments.length === 0 ? { state, resources } : { state: machineStateOf(machines), resources };
}
