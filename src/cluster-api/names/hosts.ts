import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { monotonicNow } from "../../kube/index.ts";

/** The addresses that a file of hosts has for a name; none for a name that it does not have. */
export type Hosts = (name: string) => readonly string[];

/** In ms: for how long a file of hosts is remembered, as Go remembers it. */
const REMEMBERED = 5_000;

/** Follows a file in the form of `/etc/hosts`. One that cannot be read has no names. */
export function followHosts(file: string, now: () => number = monotonicNow): Hosts {
  let known: { readonly hosts: ReadonlyMap<string, readonly string[]>; readonly until: number } | undefined;
  return (name) => {
    if (known === undefined || known.until <= now())
      known = { hosts: parseHosts(readText(file)), until: now() + REMEMBERED };
    return known.hosts.get(name.toLowerCase()) ?? [];
  };
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

/** Read at once: a thread of libuv's, which a read in the background takes, may be one that waits for a name. */
export function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
