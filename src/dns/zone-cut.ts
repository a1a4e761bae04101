import { canonicalName, isWithin } from "./domain.ts";
import type { Found, ResolverQuestions, ServerQuestions } from "./questions.ts";

/** Whom the way to a zone's servers leads over. */
export interface ZoneSearch {
  readonly resolvers: ResolverQuestions;
  /** The zone that holds a name, as servers of this zone have it: it, or one below it. */
  findCut(name: string, zone: string, servers: readonly string[]): Promise<Cut>;
}

/** Where a zone begins, and the names of its servers. */
export interface Cut {
  readonly zone: string;
  /** Undefined where the zone is the one that was known. */
  readonly found?: Found;
}

/** The zone that holds a name, and the servers that it has as far as resolvers and one of its servers know. */
export interface Located {
  readonly zone: string;
  readonly servers: readonly string[];
  /** For how long, in ms, resolvers may remember the way to these servers. */
  readonly ttl: number;
}

/**
 * Finds the zone through resolvers, and then asks the servers found in which zone they have the name. A resolver that
 * says of a zone that it does not exist leads to the parent's servers: where these know better, the search goes on from
 * what they say. Throws when none of them has the name in a zone of its own.
 */
export async function locateZone(name: string, search: ZoneSearch): Promise<Located> {
  let { zone, found } = await findZone(name, search);
  for (;;) {
    const { values: servers, ttl } = await allAddresses(zone, found.values, search);
    const cut = await search.findCut(name, zone, servers);
    if (cut.found === undefined) return { zone, servers, ttl: Math.max(found.ttl, ttl) };
    ({ zone, found } = { zone: cut.zone, found: cut.found });
  }
}

/** All addresses of a zone's hosts. A server without one may be the one that answers something else, so it is an error. */
export async function allAddresses(
  zone: string,
  hosts: readonly string[],
  { resolvers }: Pick<ZoneSearch, "resolvers">,
): Promise<Found> {
  const found = await Promise.all(
    hosts.map(async (host) => {
      const addresses = await resolvers.addresses(host);
      if (addresses.values.length > 0) return addresses;
      throw new Error(`cannot find the DNS server ${host} of ${zone}: it has no address`);
    }),
  );
  return {
    values: [...new Set(found.flatMap(({ values }) => values))],
    ttl: Math.max(0, ...found.map(({ ttl }) => ttl)),
  };
}

/** Who of several servers decides where the zone begins: the first that answers, or the one that knows the lowest zone. */
export type Choice = "first" | "lowest";

/** Asks servers in which zone they have a name. Throws when none has it in this zone or in one below. */
export async function findCut(
  questions: ServerQuestions,
  choice: Choice,
  { name, zone, servers }: { readonly name: string; readonly zone: string; readonly servers: readonly string[] },
): Promise<Cut> {
  const asked = servers.map(async (server) => {
    const there = await questions.zoneOf(server, name);
    if (!isWithin(there, zone)) throw new Error(`${server} has ${name} in zone ${there}`);
    return { server, there };
  });
  const lowest = choice === "first" ? await Promise.any(asked).catch(() => undefined) : await lowestOf(asked);
  if (lowest === undefined) {
    const reasons = (await Promise.allSettled(asked)).map((answer) =>
      "reason" in answer ? messageOf(answer.reason) : "",
    );
    throw new Error(`cannot find the DNS servers of ${name}: ${reasons.join("; ")}`);
  }
  if (lowest.there === zone) return { zone };
  const found = await questions.nameServers(lowest.server, lowest.there);
  if (found.values.length > 0) return { zone: lowest.there, found };
  throw new Error(`cannot find the DNS servers of ${name}: ${lowest.server} lists none for ${lowest.there}`);
}

async function findZone(name: string, { resolvers }: ZoneSearch): Promise<{ zone: string; found: Found }> {
  for (let zone = canonicalName(name); zone !== ""; zone = parentOf(zone)) {
    const found = await resolvers.nameServers(zone);
    if (found.values.length > 0) return { zone, found };
  }
  throw new Error(`cannot find the DNS servers of ${name}: no zone holds it`);
}

interface There {
  readonly server: string;
  readonly there: string;
}

async function lowestOf(asked: readonly Promise<There>[]): Promise<There | undefined> {
  const heard = (await Promise.allSettled(asked)).flatMap((answer) => ("value" in answer ? [answer.value] : []));
  return heard.toSorted((one, other) => other.there.length - one.there.length)[0];
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const parentOf = (name: string): string => (name.includes(".") ? name.slice(name.indexOf(".") + 1) : "");
