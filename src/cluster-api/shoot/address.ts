import type { ControlPlaneEndpoint } from "../../api/cluster-api/index.ts";
import type { Shoot } from "../../api/index.ts";
import { moveOf } from "../../api/placement/move.ts";
import { parseForeignKubeconfig } from "../../kube/kubeconfig.ts";
import { isSameEndpoint, parseUrlEndpoint, type Endpoint } from "../endpoint/value.ts";

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

/**
 * Where users of a Shoot are led now: to the advertised endpoint. While the Shoot moves, what was `said` of it stays until its published
 * kubeconfig leads to the advertised one: a Seed advertises an address before an API server answers there, and the old one serves still. Pure.
 */
export function currentEndpoint(
  shoot: Shoot,
  said: Endpoint | undefined,
  kubeconfig: string | undefined,
): ControlPlaneEndpoint | undefined {
  const advertised = advertisedEndpoint(shoot);
  if (advertised === undefined || said === undefined || kubeconfig === undefined) return advertised;
  if (moveOf(shoot).is === "settled") return advertised;
  return isSameEndpoint(parseUrlEndpoint(parseForeignKubeconfig(kubeconfig).server), advertised) ? advertised : said;
}
