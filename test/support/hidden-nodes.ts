import { execa } from "execa";
import { inNamespace } from "../../src/local/network/namespace.ts";
import type { LocalEnvironment, SeedName } from "./local-environment.ts";

/**
 * Closes the way from the pods of a seed to all machines and to the pods and Services of Shoots, as where these are in a network
 * of their own. What machines ask for themselves is answered. Returns what opens it again.
 */
export async function hideNodes({ environment }: LocalEnvironment, seed: SeedName): Promise<() => Promise<void>> {
  const netns = `${environment.name}.${seed}`;
  const machines = environment.network.replace(".0.0/16", ".0.0/17");
  const rules = [
    ["-d", environment.gateway, "-j", "ACCEPT"],
    ...[machines, ...shootNetworks].map((network) => {
      return ["-d", network, "-m", "conntrack", "--ctstate", "NEW", "-j", "DROP"];
    }),
  ];
  const chain = async (flag: "-I" | "-D", rule: readonly string[]) =>
    await inNamespace(netns, ["iptables", "-w", flag, "FORWARD", ...rule]);
  for (const rule of rules.toReversed()) await chain("-I", rule);
  return async () => {
    for (const rule of rules) await chain("-D", rule);
  };
}

/** Whether a pod of the seed could open a connection; it speaks from the API server's own network. */
export async function canReach(pid: number, host: string, port: number): Promise<boolean> {
  const target = `https://${host}:${port}/`;
  const { exitCode } = await execa(
    "nsenter",
    ["--net", `--target=${pid}`, "--", "curl", "--insecure", "--silent", "--max-time", "3", target],
    { reject: false },
  );
  return exitCode === 0;
}

/** Those of the Shoots in `e2e-shoots.ts`. */
const shootNetworks = ["100.64.0.0/16", "100.65.0.0/16"];
