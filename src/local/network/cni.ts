import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** How a machine's pods are reached: its own range of addresses, the cluster's, and which machine has which other range. */
export interface MachineNetwork {
  readonly podCIDR: string;
  readonly clusterPodCIDR: string;
  readonly peers: readonly { readonly podCIDR: string; readonly address: string }[];
  /** In bytes, of the link over which the others are reached; the kernel's own for pods without it. */
  readonly mtu?: number;
}

/** Runs a command in the network namespace of a machine, with this input, to its end; answers what it wrote, and throws where it fails. */
export type Run = (command: readonly string[], input?: string) => Promise<string>;

/**
 * Brings routes, masquerading and the CNI configuration in step with `network`; the configuration comes last, as it makes the
 * node ready. A peer to which the kernel takes no route keeps back nothing else; it is thrown when all is done.
 */
export async function applyNetwork(run: Run, cniDir: string, network: MachineNetwork): Promise<void> {
  try {
    await applyRoutes(run, network);
  } finally {
    await applyMasquerading(run, network);
    await writeConflist(cniDir, network);
  }
}

/** In one step; what is there already is not written again, as containerd loads whatever changes. */
async function writeConflist(cniDir: string, network: MachineNetwork): Promise<void> {
  const file = join(cniDir, "10-perennial.conflist");
  const text = JSON.stringify(renderConflist(network), undefined, 2);
  if ((await readFile(file, "utf8").catch(() => undefined)) === text) return;
  await mkdir(cniDir, { recursive: true });
  const draft = join(cniDir, ".10-perennial.conflist.new");
  await writeFile(draft, text);
  await rename(draft, file);
}

/**
 * Pods hang off point-to-point links and not off a bridge: so all their traffic passes the machine's netfilter and
 * Services work between pods of one machine too, whether or not the kernel has br_netfilter.
 */
function renderConflist({ podCIDR, mtu }: MachineNetwork) {
  return {
    cniVersion: "0.4.0",
    name: "perennial",
    plugins: [
      {
        type: "ptp",
        ipMasq: false,
        ...(mtu === undefined ? {} : { mtu }),
        ipam: { type: "host-local", ranges: [[{ subnet: podCIDR }]], routes: [{ dst: "0.0.0.0/0" }] },
      },
      { type: "portmap", capabilities: { portMappings: true } },
    ],
  };
}

/** Our routes carry a protocol number of their own, by which those of peers that went away are found. */
const routeProtocol = "77";

async function applyRoutes(run: Run, { peers }: MachineNetwork): Promise<void> {
  const listed = await run(["ip", "-j", "route", "show", "proto", routeProtocol]);
  const present = JSON.parse(listed || "[]") as { dst: string }[];
  const wanted = new Set(peers.map(({ podCIDR }) => podCIDR));
  const lines = [
    ...present.filter(({ dst }) => !wanted.has(dst)).map(({ dst }) => `route del ${dst} proto ${routeProtocol}`),
    ...peers.map(({ podCIDR, address }) => `route replace ${podCIDR} via ${address} proto ${routeProtocol}`),
  ];
  if (lines.length > 0) await run(["ip", "-force", "-batch", "-"], lines.join("\n"));
}

/** Naming our chain in `iptables-restore --noflush` empties it first: the rule is replaced in one step. */
async function applyMasquerading(run: Run, { podCIDR, clusterPodCIDR }: MachineNetwork): Promise<void> {
  const rule = `-A PERENNIAL -s ${podCIDR} ! -d ${clusterPodCIDR} -j MASQUERADE`;
  const table = ["*nat", ":PERENNIAL - [0:0]", rule, "COMMIT", ""].join("\n");
  await run(["iptables-restore", "-w", "--noflush"], table);
  const jump = ["POSTROUTING", "-j", "PERENNIAL"];
  const missing = await run(["iptables", "-w", "-t", "nat", "-C", ...jump]).then(
    () => false,
    () => true,
  );
  if (missing) await run(["iptables", "-w", "-t", "nat", "-A", ...jump]);
}
