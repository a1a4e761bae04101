import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { followHosts, readText } from "./hosts.ts";

/** Where names are looked up: as the system's files say, unless told otherwise. */
export interface LookupOptions {
  /** As `address` or `address:port`; those of the system unless told otherwise. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
  readonly resolverFile?: string;
}

/** How long a name server may take for its first try, in ms, and how many tries it has; c-ares waits twice as long for the next. */
const TIMEOUTS = { timeout: 2_000, tries: 2 };

/**
 * Finds the addresses of a name, IPv4 first, without a thread for each question. Node's own way, getaddrinfo, has two threads for all
 * names of a process: forty names of a zone whose server is silent kept any other from being found for more than 150 s, among them those of API
 * servers. As core's manager does, it reads `/etc/hosts`, asks the name servers of `/etc/resolv.conf`, and tries the domains of its `search`: after the name
 * itself where that has a dot, whatever `ndots` says. Fails with code `ENOTFOUND` where there is no such name, `EAI_AGAIN` where no name server says so.
 */
export function createLookup({
  servers,
  hostsFile = "/etc/hosts",
  resolverFile = "/etc/resolv.conf",
}: LookupOptions = {}): LookupFunction {
  const resolver = new Resolver(TIMEOUTS);
  if (servers !== undefined) resolver.setServers(servers);
  const inHosts = followHosts(hostsFile);
  const domains = searchedDomains(readText(resolverFile));

  async function find(name: string): Promise<readonly LookupAddress[]> {
    const written = inHosts(name);
    if (written.length > 0) return inOrder(written);
    for (const candidate of candidatesOf(name, domains)) {
      const found = await ask(candidate);
      if (found.length > 0) return inOrder(found);
    }
    throw fault("ENOTFOUND", `${name} is not found`);
  }

  /** None where name servers know of none. One family is enough where name servers do not answer for the other. */
  async function ask(name: string): Promise<readonly string[]> {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = answers.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    const failed = answers.find((one) => one.status === "rejected" && !isAbsence(one.reason));
    if (found.length === 0 && failed !== undefined) throw fault("EAI_AGAIN", `no name server answers for ${name}`);
    return found;
  }

  return (name, { all = false, family = 0 }, callback) => {
    const wanted = (one: LookupAddress) => family === 0 || family === one.family;
    find(name)
      .then((found) => {
        const fit = found.filter(wanted);
        if (fit[0] === undefined) throw fault("ENOTFOUND", `${name} has no address of that family`);
        return fit;
      })
      .then(
        (fit) => (all ? callback(null, fit) : callback(null, fit[0]?.address ?? "", fit[0]?.family)),
        (error: NodeJS.ErrnoException) => callback(error, ""),
      );
  };
}

/** The names to ask for, in order: each whole. */
function candidatesOf(name: string, domains: readonly string[]): readonly string[] {
  if (name.endsWith(".")) return [name];
  const below = domains.map((domain) => `${name}.${domain}`);
  return name.includes(".") ? [name, ...below] : [...below, name];
}

/** The domains of the last `search` in a text in the form of `/etc/resolv.conf`. */
function searchedDomains(text: string): readonly string[] {
  const lines = text.split("\n").map((line) => line.trim().split(/\s+/));
  const [, ...domains] = lines.findLast(([word]) => word === "search" || word === "domain") ?? [];
  return domains.map((domain) => domain.replace(/\.$/, "")).filter((domain) => domain !== "");
}

const inOrder = (addresses: readonly string[]): readonly LookupAddress[] =>
  addresses.map((address) => ({ address, family: isIP(address) })).sort((one, other) => one.family - other.family);

const isAbsence = (error: unknown): boolean =>
  ["ENOTFOUND", "ENODATA", "EBADNAME"].includes((error as NodeJS.ErrnoException).code ?? "");

const fault = (code: string, message: string): NodeJS.ErrnoException => Object.assign(new Error(message), { code });
