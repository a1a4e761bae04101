import { Network } from "../../api/index.ts";
import type { Actuator } from "../../extension/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { PodNetworks } from "./pod-network.ts";

/** The pods' network of a Shoot: routes between machines. Nodes come after it, so it is done once the loop for them runs. */
export function createNetworkActuator(podNetworks: PodNetworks): Actuator<Network> {
  const reconcile: Actuator<Network>["reconcile"] = async (network) => {
    const { spec } = network;
    await podNetworks.start(network);
    return { status: { ipFamilies: spec.ipFamilies ?? ["IPv4"] } };
  };
  const stop: Actuator<Network>["delete"] = ({ metadata }) => podNetworks.stop(metadata.namespace);
  return { reconcile, restore: reconcile, migrate: stop, delete: stop };
}

/** Takes up again, after a restart, the loops of all Networks that were set up and have not migrated. */
export async function resumePodNetworks(client: KubeClient, podNetworks: PodNetworks): Promise<void> {
  const networks = await client.list(Network);
  for (const network of networks) {
    const { metadata, spec, status } = network;
    const ours = spec.type === "local" && metadata.deletionTimestamp === undefined;
    if (ours && status?.lastOperation !== undefined && status.lastOperation.type !== "Migrate") {
      await podNetworks.start(network);
    }
  }
}
