import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inNamespace } from "./namespace.ts";

/** How a machine's pods are reached: its own range of addresses, the cluster's, and which machine has which other range. */
export interface MachineNetwork {
  readonly podCIDR: string;
  readonly clusterPodCIDR: string;
  readonly peers: readonly { readonly podCIDR: string; readonly address: string }[];
}

/** Brings routes, masquerading and the CNI configuration in step with `network`; the configuration comes last, as it makes the node ready. */
export async function applyNetwork(netns: string, cniDir: string, network: MachineNetwork): Promise<void> {
  await applyRoutes(netns, network);
  await applyMasquerading(netns, network);
  await mkdir(cniDir, { recursive: true });
  const draft = join(cniDir, ".10-perennial.conflist.new");
  await writeFile(draft, JSON.stringify(renderConflist(network), undefined, 2));
  await rename(draft, join(cniDir, "10-perennial.conflist"));
}

/**
 * Pods hang off point-to-point links and not off a bridge: so all their traffic passes the machine's netfilter and
 * Services work between pods of one machine too, whether or not the kernel has br_netfilter.
 */
function renderConflist({ podCIDR }: MachineNetwork) {
  return {
    cniVersion: "0.4.0",
    name: "perennial",
    plugins: [
      {
        type: "ptp",
        ipMasq: false,
        ipam: { type: "host-local", ranges: [[{ subnet: podCIDR }]], routes: [{ dst: "0.0.0.0/0" }] },
      },
      { type: "portmap", capabilities: { portMappings: true } },
    ],
  };
}

/** Our routes carry a protocol number of their own, by which those of peers that went away are found. */
const routeProtocol = "77";

async function applyRoutes(netns: string, { peers }: MachineNetwork): Promise<void> {
  const listed = await inNamespace(netns, ["ip", "-j", "route", "show", "proto", routeProtocol]);
  const present = JSON.parse(listed || "[]") as { dst: string }[];
  const wanted = new Set(peers.map(({ podCIDR }) => podCIDR));
  const lines = [
    ...present.filter(({ dst }) => !wanted.has(dst)).map(({ dst }) => `route del ${dst} proto ${routeProtocol}`),
    ...peers.map(({ podCIDR, address }) => `route replace ${podCIDR} via ${address} proto ${routeProtocol}`),
  ];
  if (lines.length > 0) await inNamespace(netns, ["ip", "-batch", "-"], lines.join("\n"));
}

/** Naming our chain in `iptables-restore --noflush` empties it first: the rule is replaced in one step. */
async function applyMasquerading(netns: string, { podCIDR, clusterPodCIDR }: MachineNetwork): Promise<void> {
  const rule = `-A PERENNIAL -s ${podCIDR} ! -d ${clusterPodCIDR} -j MASQUERADE`;
  const table = ["*nat", ":PERENNIAL - [0:0]", rule, "COMMIT", ""].join("\n");
  await inNamespace(netns, ["iptables-restore", "-w", "--noflush"], table);
  const jump = ["POSTROUTING", "-j", "PERENNIAL"];
  const missing = await inNamespace(netns, ["iptables", "-w", "-t", "nat", "-C", ...jump]).then(
    () => false,
    () => true,
  );
  if (missing) await inNamespace(netns, ["iptables", "-w", "-t", "nat", "-A", ...jump]);
}
