import { writeFile, readFile } from "node:fs/promises";
import type { Run } from "./cni.ts";

/** How many bytes a packet may have on the link that has this IPv4 address; undefined where no link has it. */
export async function mtuOf(run: Run, address: string): Promise<number | undefined> {
  const links = JSON.parse(await run(["ip", "-4", "-json", "address"])) as Link[];
  return links.find(({ addr_info }) => addr_info.some(({ local }) => local === address))?.mtu;
}

interface Link {
  readonly mtu: number;
  readonly addr_info: readonly { readonly local?: string }[];
}

/** Lets the kernel pass packets on between links, by this file of its settings; writes it only where that is off. */
export async function enableForwarding(file: string): Promise<void> {
  if ((await readFile(file, "utf8")).trim() !== "1") await writeFile(file, "1");
}
