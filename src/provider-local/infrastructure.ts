import type { Infrastructure } from "../api/index.ts";
import { readSecret, type Actuator } from "../extension/index.ts";
import type { Environment } from "../local/environment/environment.ts";
import { machineNetworkOf } from "./network/addresses.ts";

/**
 * The infrastructure of a Shoot: the environment's bridge, which all share. What a cloud would be asked for is only
 * checked: that there are credentials.
 */
export function createInfrastructureActuator(environment: Environment): Actuator<Infrastructure> {
  const reconcile: Actuator<Infrastructure>["reconcile"] = async ({ spec, metadata }, _cluster, { client }) => {
    const { name = "cloudprovider", namespace = metadata.namespace } = spec.secretRef;
    await readSecret(client, { name, namespace });
    const nodes = machineNetworkOf(environment);
    return {
      providerStatus: {
        apiVersion: "local.provider.perennial.dev/v1alpha1",
        kind: "InfrastructureStatus",
        environment: environment.name,
        bridge: environment.bridge,
      },
      status: { nodesCIDR: nodes, networking: { nodes: [nodes] } },
    };
  };
  return { reconcile, restore: reconcile, migrate: async () => undefined, delete: async () => undefined };
}
