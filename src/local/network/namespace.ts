import { createHash } from "node:crypto";
import { execa } from "execa";
import type { Environment } from "../environment/environment.ts";
import type { Run } from "./cni.ts";

/** Makes the network namespace anew, with eth0 plugged into the environment's bridge and a default route to the gateway. */
export async function createNamespace(env: Environment, netns: string, address: string): Promise<void> {
  await removeNamespace(netns);
  const [, prefixLength] = env.network.split("/");
  const port = portName(netns);
  await execa("ip", ["netns", "add", netns]);
  await execa("ip", ["link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", netns]);
  await execa("ip", ["link", "set", port, "master", env.bridge, "up"]);
  await execa("ip", ["-n", netns, "-batch", "-"], {
    input: [
      "link set lo up",
      "link set eth0 up",
      `address add ${address}/${prefixLength} dev eth0`,
      `route add default via ${env.gateway}`,
    ].join("\n"),
  });
  await inNamespace(netns, ["/bin/sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"]);
}

/** Deletes the namespace, and with it its veth pair, routes and iptables rules, once nothing runs in it. Idempotent. */
export async function removeNamespace(netns: string): Promise<void> {
  const names = (await listNamespaces()).includes(netns);
  if (names) await execa("ip", ["netns", "delete", netns]);
  // Gone with the namespace, unless a dying process still holds that.
  await execa("ip", ["link", "delete", portName(netns)], { reject: false });
}

/** The names of all network namespaces of the host. */
export async function listNamespaces(): Promise<string[]> {
  const { stdout } = await execa("ip", ["netns", "list"]);
  return stdout.split("\n").map((line) => line.split(" ")[0] ?? "");
}

/** Runs a command in the namespace. `ip netns exec` would hide the cgroups behind a new /sys. */
export async function inNamespace(netns: string, command: readonly string[], input?: string): Promise<string> {
  const options = input === undefined ? {} : { input };
  const { stdout } = await execa("nsenter", [`--net=/run/netns/${netns}`, "--", ...command], options);
  return stdout;
}

/** {@link inNamespace} for one namespace. */
export const runnerIn =
  (netns: string): Run =>
  async (command, input) =>
    await inNamespace(netns, command, input);

/** Interface names have at most 15 characters. */
function portName(netns: string): string {
  return `pm-${createHash("sha256").update(netns).digest("hex").slice(0, 12)}`;
}
