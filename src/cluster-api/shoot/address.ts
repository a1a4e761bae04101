import type { ControlPlaneEndpoint } from "../../api/cluster-api/index.ts";
import type { Shoot } from "../../api/index.ts";
import { parseUrlEndpoint } from "../endpoint/value.ts";

/** The names of advertised addresses, the best for users first. */
const preference = ["external", "internal", "unmanaged"] as const;

/**
 * Where a Shoot's API server answers: at its external address, else its internal, else its unmanaged one. Addresses are https URLs, of
 * which host and port are taken; 443 where none is said. Undefined while there is none. Pure.
 */
export function advertisedEndpoint({ status }: Pick<Shoot, "status">): ControlPlaneEndpoint | undefined {
  const { advertisedAddresses = [] } = status ?? {};
  for (const name of preference) {
    const address = advertisedAddresses.find((one) => one.name === name);
    const endpoint = address && URL.parse(address.url)?.protocol === "https:" && parseUrlEndpoint(address.url);
    if (endpoint) return endpoint;
  }
  return undefined;
}
