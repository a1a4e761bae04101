import { HOST_SETTINGS } from "../../components/index.ts";
import type { Candidate, Findings } from "./candidate.ts";
import { hostSettings } from "./host-settings.ts";
import { nameServersIn } from "./neighbours.ts";
import { textOf } from "./readable.ts";

/**
 * That pods will find no name outside of the cluster: the kubelet gives them the name servers of the machine, and one at an address of
 * the machine's own loopback, as systemd's is, would be the pod itself.
 */
export async function resolverFindings({ root }: Pick<Candidate, "root">): Promise<Findings> {
  const { resolvConf = RESOLV_CONF } = await hostSettings(root);
  const own = nameServersIn(await textOf(root, resolvConf)).filter(isLoopback);
  if (own.length === 0) return { faults: [], warnings: [] };
  const others = nameServersIn(await textOf(root, SYSTEMDS)).some((address) => !isLoopback(address));
  const remedy = others
    ? `write resolvConf: ${SYSTEMDS} into ${HOST_SETTINGS}/50-resolver.conf`
    : `name servers elsewhere there, or in a file that resolvConf in ${HOST_SETTINGS}/50-resolver.conf names`;
  const sentence = `pods ask the name servers of ${resolvConf}, and do not reach ${own.join(", ")}, which is this machine for itself: ${remedy}`;
  return { faults: [], warnings: [sentence] };
}

/** What kubelets read by default, and where systemd-resolved says the servers that it asks itself. */
const RESOLV_CONF = "/etc/resolv.conf";
const SYSTEMDS = "/run/systemd/resolve/resolv.conf";

const isLoopback = (address: string): boolean => address.startsWith("127.") || address === "::1";
