import { isIP } from "node:net";
import { followFile } from "./followed-file.ts";

/** The addresses that a file of hosts has for a name; none for a name that it does not have. */
export type Hosts = (name: string) => readonly string[];

/** Follows a file in the form of `/etc/hosts`. One that cannot be read has no names. */
export function followHosts(file: string, now?: () => number): Hosts {
  const hosts = followFile(file, parseHosts, now);
  return (name) => hosts().get(name.toLowerCase()) ?? [];
}

/** The addresses of each name in a text in the form of `/etc/hosts`. */
function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names.map((one) => one.toLowerCase())) hosts.set(name, [...(hosts.get(name) ?? []), address]);
  }
  return hosts;
}
