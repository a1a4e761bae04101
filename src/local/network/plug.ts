import { execa } from "execa";
import type { Environment } from "../environment/environment.ts";
import { inNamespace, listNamespaces } from "./namespace.ts";

/** Gives the machine a further address. The bridge and its neighbours forget its earlier owner, as an address may move. */
export async function plugAddress(env: Environment, netns: string, address: string): Promise<void> {
  await inNamespace(netns, ["ip", "address", "replace", `${address}/32`, "dev", "eth0"]);
  await execa("ip", ["neighbour", "flush", "to", address, "dev", env.bridge], { reject: false });
  for (const neighbour of await listNamespaces())
    if (neighbour.startsWith(`${env.name}.`))
      await execa("ip", ["-n", neighbour, "neighbour", "flush", "to", address], { reject: false });
}

/** Takes the address away; success when the machine does not have it. */
export async function unplugAddress(netns: string, address: string): Promise<void> {
  await execa("ip", ["-n", netns, "address", "delete", `${address}/32`, "dev", "eth0"], { reject: false });
}
