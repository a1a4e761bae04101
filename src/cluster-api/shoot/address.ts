import type { ControlPlaneEndpoint } from "../../api/cluster-api/index.ts";
import type { Shoot } from "../../api/index.ts";

/** The names of advertised addresses, the best for users first. */
const preference = ["external", "internal", "unmanaged"] as const;

/**
 * Where a Shoot's API server answers: at its external address, else its internal, else its unmanaged one. Addresses are URLs, of
 * which host and port are taken; 443 where none is said. Undefined while there is none. Pure.
 */
export function advertisedEndpoint({ status }: Pick<Shoot, "status">): ControlPlaneEndpoint | undefined {
  const { advertisedAddresses = [] } = status ?? {};
  for (const name of preference) {
    const address = advertisedAddresses.find((one) => one.name === name);
    const endpoint = address && endpointOf(address.url);
    if (endpoint !== undefined) return endpoint;
  }
  return undefined;
}

/** The host and the port of an https URL; an IPv6 address without its brackets. */
function endpointOf(url: string): ControlPlaneEndpoint | undefined {
  const { protocol, hostname, port } = URL.parse(url) ?? {};
  if (protocol !== "https:" || hostname === undefined || hostname === "") return undefined;
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port || 443) };
}
