import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { followFile } from "./followed-file.ts";
import { followHosts } from "./hosts.ts";

/** Where names are looked up: as the system's files say, unless told otherwise. */
export interface LookupOptions {
  /** As `address` or `address:port`; those of the system unless told otherwise. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
  readonly resolverFile?: string;
}

/**
 * How long a name server that has answered nothing yet may take for its first try, in ms, and how many tries it has: for each, c-ares waits about
 * twice as long as for the one before. One that was heard has as little as 250 ms for the first, so four tries are three seconds at most.
 */
const TIMEOUTS = { timeout: 1_000, tries: 4 };

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
  const inHosts = followHosts(hostsFile);
  const resolution = followFile(resolverFile, resolutionBy(servers));

  async function find(name: string): Promise<readonly LookupAddress[]> {
    const written = inHosts(name);
    if (written.length > 0) return inOrder(written);
    const { resolver, domains } = resolution();
    let failure: Error | undefined;
    for (const candidate of candidatesOf(name, domains)) {
      const found = await ask(resolver, candidate).catch((error: Error) => void (failure ??= error));
      if (found !== undefined && found.length > 0) return inOrder(found);
    }
    throw failure ?? fault("ENOTFOUND", `${name} is not found`);
  }

  /** None where name servers know of none. One family is enough where name servers do not answer for the other. */
  async function ask(resolver: Resolver, name: string): Promise<readonly string[]> {
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

interface Resolution {
  readonly resolver: Resolver;
  /** Those that are searched. */
  readonly domains: readonly string[];
}

/** Node reads the system's name servers when a resolver is made, so one is made when their file says something else. */
const resolutionBy =
  (servers: readonly string[] | undefined) =>
  (text: string): Resolution => {
    const resolver = new Resolver(TIMEOUTS);
    if (servers !== undefined) resolver.setServers(servers);
    return { resolver, domains: searchedDomains(text) };
  };

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
