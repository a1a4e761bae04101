import { counted } from "../../api/counted.ts";
import type { Shoot } from "../../api/index.ts";
import { canonicalNetwork, isIPv4Network, isNetwork, prefixOf } from "../../api/schema/cidr.ts";
import type { Cause } from "../review.ts";

/**
 * Why the Shoot's networks cannot hold what is to be in them: control planes speak IPv4, two addresses of the Services' network
 * are agreed on, each node gets a network of its own for its pods.
 */
export function roomCauses({ spec }: Shoot): Cause[] {
  const { ipFamilies = [], pods, services, nodes } = spec.networking ?? {};
  const families = ipFamilies.some((family) => family !== "IPv4") ? [{ field: families4, message: onlyIPv4 }] : [];
  const written = Object.entries({ pods, services, nodes }).flatMap(([name, cidr]) => spellingCauses(name, cidr));
  if (families.length + written.length > 0) return [...families, ...written];
  return [...servicesCauses(services), ...((spec.provider.workers ?? []).length > 0 ? podsCauses(spec, pods) : [])];
}

const families4 = "spec.networking.ipFamilies";
const onlyIPv4 = "IPv6 is not supported: use IPv4 alone";

function spellingCauses(name: string, cidr: string | undefined): Cause[] {
  const field = `spec.networking.${name}`;
  if (!cidr || !isNetwork(cidr)) return [];
  if (!isIPv4Network(cidr)) return [{ field, message: `${cidr}: ${onlyIPv4}` }];
  const canonical = canonicalNetwork(cidr);
  return cidr === canonical ? [] : [{ field, message: `${cidr} has bits behind its prefix: write ${canonical}` }];
}

/** The tenth address is the DNS server's; kube-apiserver takes no network of more than twenty bits. */
function servicesCauses(services: string | undefined): Cause[] {
  if (!services || !isIPv4Network(services)) return [];
  const prefix = prefixOf(services);
  if (prefix >= 12 && prefix <= 28) return [];
  return [{ field: "spec.networking.services", message: `${services} must have a prefix between /12 and /28` }];
}

type Spec = Shoot["spec"];

function podsCauses({ kubernetes, provider }: Spec, pods: string | undefined): Cause[] {
  if (!pods || !isIPv4Network(pods)) return [];
  const mask = kubernetes.kubeControllerManager?.nodeCIDRMaskSize ?? 24;
  const maskField = "spec.kubernetes.kubeControllerManager.nodeCIDRMaskSize";
  const room = 2 ** (mask - prefixOf(pods));
  if (room < 1) {
    const message = `${pods} has no room for the /${mask} that each node gets: choose a larger network, or another ${maskField}`;
    return [{ field: "spec.networking.pods", message }];
  }
  const machines = (provider.workers ?? []).reduce((sum, { minimum }) => sum + minimum, 0);
  const crowded = {
    field: "spec.provider.workers",
    message: `have ${counted(machines, "machine")} at least, and spec.networking.pods ${pods} has room for ${counted(room, "node")} with a /${mask} each`,
  };
  return [...(machines > room ? [crowded] : []), ...maxPodsCauses({ kubernetes, provider }, mask, maskField)];
}

/** The first address of a node's network is the node's own, the last is for broadcasts. */
function maxPodsCauses(
  { kubernetes, provider }: Pick<Spec, "kubernetes" | "provider">,
  mask: number,
  maskField: string,
) {
  const most = 2 ** (32 - mask) - 2;
  return (provider.workers ?? []).flatMap((pool, index): Cause[] => {
    const own = pool.kubernetes?.kubelet;
    const maxPods = (own ?? kubernetes.kubelet)?.maxPods ?? 110;
    if (maxPods <= most) return [];
    const kubelet = own ? `spec.provider.workers[${index}].kubernetes.kubelet` : "spec.kubernetes.kubelet";
    const message = `${maxPods} pods do not fit into the /${mask} of a node: set ${most < 1 ? "" : `at most ${most}, or `}a smaller ${maskField}`;
    return [{ field: `${kubelet}.maxPods`, message }];
  });
}
