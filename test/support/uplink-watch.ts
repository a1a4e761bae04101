import { readFile } from "node:fs/promises";
import { execa } from "execa";
import type { Environment } from "../../src/local/environment/environment.ts";

/** The environment whose machines are watched. */
type Watched = Pick<Environment, "name" | "network">;

/**
 * Notes from now on where packets of the environment's machines, and of pods on them, go when they leave this machine: neither to another machine of
 * an environment nor to this host. Needs root, and the match `recent` of iptables.
 */
export async function watchUplink({ name, network }: Watched): Promise<void> {
  await unwatchUplink({ name });
  const chain = chainOf(name);
  await iptables("-N", chain);
  for (const here of ["lo", "pn-+"]) await iptables("-A", chain, "-o", here, "-j", "RETURN");
  await iptables("-A", chain, "-m", "recent", "--name", chain, "--rdest", "--set");
  await iptables("-I", "POSTROUTING", "-s", network, "-j", chain);
}

/** The addresses beyond this machine that packets went to since `watchUplink`. */
export async function sentBeyond({ name }: Pick<Watched, "name">): Promise<string[]> {
  const text = await readFile(`/proc/net/xt_recent/${chainOf(name)}`, "utf8");
  return [...text.matchAll(/src=(\S+)/g)].map(([, address = ""]) => address);
}

/** Ends the watch, also one that an interrupted run left; nothing where there is none. */
export async function unwatchUplink({ name }: Pick<Watched, "name">): Promise<void> {
  const chain = chainOf(name);
  const { stdout = "" } = await execa("iptables", ["-w", "-t", "mangle", "-S", "POSTROUTING"]);
  for (const rule of stdout.split("\n").filter((line) => line.endsWith(`-j ${chain}`)))
    await iptables(...rule.replace(/^-A/, "-D").split(" "));
  for (const command of ["-F", "-X"]) await iptables(command, chain).catch(() => undefined);
}

/** Names of chains have up to 28 characters. */
const chainOf = (name: string): string => `perennial-out-${name}`.slice(0, 28);

const iptables = async (...args: readonly string[]): Promise<void> =>
  void (await execa("iptables", ["-w", "-t", "mangle", ...args]));
