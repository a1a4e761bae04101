import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { overlaps, type Environment } from "../environment/environment.ts";
import { withLock } from "../binary/lock.ts";

/**
 * Makes the environment's bridge, with the gateway's address on it, and lets machines out through the host's default
 * route, to public addresses. What is sent to a private one that no machine has, such as that of a pod which is gone, is refused: beyond the
 * host, another network may have it. Idempotent. Switches the host's IP forwarding on and leaves it on, as others may rely on it by then.
 */
export async function ensureBridge(env: Environment): Promise<void> {
  await withLock(join(env.stateDir, "locks", "bridge"), async () => {
    const { bridge } = env;
    await refuseOverlap(env);
    const shown = await execa("ip", ["link", "show", bridge], { reject: false });
    if (shown.exitCode !== 0) await execa("ip", ["link", "add", bridge, "type", "bridge"]);
    await execa("ip", ["address", "replace", `${env.gateway}/${env.network.split("/")[1]}`, "dev", bridge]);
    await execa("ip", ["link", "set", bridge, "up"]);
    await writeFile("/proc/sys/net/ipv4/ip_forward", "1");
    for (const { table, chain, rule } of hostRules(env)) {
      const present = await execa("iptables", ["-w", "-t", table, "-C", chain, ...rule], { reject: false });
      if (present.exitCode !== 0) await execa("iptables", ["-w", "-t", table, "-I", chain, ...rule]);
    }
  });
}

/** Removes the bridge and exactly the rules that `ensureBridge` made. Idempotent. */
export async function removeBridge(env: Environment): Promise<void> {
  for (const { table, chain, rule } of hostRules(env))
    while ((await execa("iptables", ["-w", "-t", table, "-D", chain, ...rule], { reject: false })).exitCode === 0);
  const shown = await execa("ip", ["link", "show", env.bridge], { reject: false });
  if (shown.exitCode === 0) await execa("ip", ["link", "delete", env.bridge]);
}

/** Two interfaces in one network take each other's packets. */
async function refuseOverlap({ name, bridge, network }: Environment): Promise<void> {
  const { stdout } = await execa("ip", ["-4", "-json", "address"]);
  for (const { ifname, addr_info } of JSON.parse(stdout) as HostInterface[])
    for (const { local, prefixlen } of addr_info)
      if (ifname !== bridge && overlaps(`${local}/${prefixlen}`, network))
        throw new Error(`cannot make the network ${network} of environment ${name}: interface ${ifname} has ${local}`);
}

interface HostInterface {
  readonly ifname: string;
  readonly addr_info: readonly { readonly local: string; readonly prefixlen: number }[];
}

/** In the order in which they are put in front of all others. The comment is the environment's, so that no other program's rule can be taken for ours. */
function hostRules({ name, bridge, network }: Environment) {
  const comment = ["-m", "comment", "--comment", `perennial-${name}`];
  const out = ["-i", bridge, "!", "-o", ANY_BRIDGE];
  const forward = (...rule: string[]) => ({ table: "filter", chain: "FORWARD", rule });
  return [
    { table: "nat", chain: "POSTROUTING", rule: ["-s", network, "!", "-d", network, ...comment, "-j", "MASQUERADE"] },
    forward("-i", bridge, ...comment, "-j", "ACCEPT"),
    forward("-o", bridge, ...comment, "-j", "ACCEPT"),
    ...privateNetworks.map((one) =>
      forward(...out, "-d", one, ...comment, "-j", "REJECT", "--reject-with", UNREACHABLE),
    ),
    // Bare machines ask the host's name servers.
    ...["tcp", "udp"].map((protocol) => forward(...out, "-p", protocol, "--dport", "53", ...comment, "-j", "ACCEPT")),
  ];
}

/** The bridges of all environments: what one environment sends to another stays on the host. */
const ANY_BRIDGE = "pn-+";

const UNREACHABLE = "icmp-net-unreachable";

/** RFC 1918, RFC 6598, and addresses of the link, at which clouds serve credentials. */
const privateNetworks = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16"];
