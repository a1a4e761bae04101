import type { Cluster, SelfHostedShootExposure } from "../../api/index.ts";
import { ExtensionError, type Actuator } from "../../extension/index.ts";

type Endpoint = SelfHostedShootExposure["spec"]["endpoints"][number];

/**
 * How a self-hosted cluster without a load balancer is reached: at the addresses of its control-plane nodes themselves, all of
 * which a client may try. Nothing is made for it, and nothing remains of it.
 */
export function createExposureActuator(): Actuator<SelfHostedShootExposure, Cluster | undefined> {
  const reconcile: Actuator<SelfHostedShootExposure, Cluster | undefined>["reconcile"] = async ({ metadata, spec }) => {
    const addresses = spec.endpoints.flatMap((endpoint) => addressOf(endpoint) ?? []);
    if (addresses.length === 0)
      throw new ExtensionError(
        `cannot expose the control plane of ${metadata.namespace}: spec.endpoints names no node with an address`,
        ["ERR_CONFIGURATION_PROBLEM"],
      );
    return { status: { ingress: [...new Set(addresses)].map((ip) => ({ ip })) } };
  };
  return { reconcile, restore: reconcile, migrate: async () => undefined, delete: async () => undefined };
}

/** The one for clients outside of the nodes' network, where it has one. */
function addressOf({ addresses }: Endpoint): string | undefined {
  const of = (wanted: string) => addresses.find(({ type }) => type === wanted)?.address;
  return of("ExternalIP") ?? of("InternalIP");
}
