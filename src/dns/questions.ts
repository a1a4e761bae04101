import { getServers } from "node:dns";
import type { Answer, Ask } from "./ask.ts";
import { canonicalName } from "./domain.ts";

/** The servers to ask, as `address`, `address:port` or `[address]:port`; the system's resolvers when there are none. */
export type Servers = readonly string[];

/** Values, and for how long, in ms, they may be remembered. */
export interface Found {
  readonly values: readonly string[];
  readonly ttl: number;
}

/** What is asked of resolvers, which remember. */
export interface ResolverQuestions {
  /** The names of the servers of the zone that begins at this very name; none when none begins here. */
  nameServers(zone: string): Promise<Found>;
  /** All addresses of a host, IPv6 in brackets. */
  addresses(host: string): Promise<Found>;
}

/** What is asked of a zone's servers themselves. Each throws when the server does not answer from its own data. */
export interface ServerQuestions {
  /** The values of a TXT record that no cache may keep; undefined when there is none. */
  texts(server: string, name: string): Promise<readonly string[] | undefined>;
  /** The zone in which the server has the name. */
  zoneOf(server: string, name: string): Promise<string>;
  /** The names of the zone's servers, as this one has them. */
  nameServers(server: string, zone: string): Promise<Found>;
}

/** The questions of resolvers; one that is silent is followed by the next. */
export function createResolverQuestions(ask: Ask, resolvers: Servers = []): ResolverQuestions {
  const askAny = async (name: string, type: "NS" | "A" | "AAAA"): Promise<Answer> => {
    const failures: unknown[] = [];
    for (const resolver of resolvers.length > 0 ? resolvers : getServers()) {
      try {
        return await ask(resolver, { name, type, recursive: true });
      } catch (error) {
        failures.push(error);
      }
    }
    throw failures.length === 1 ? failures[0] : new AggregateError(failures, `no resolver tells ${type} ${name}`);
  };
  return {
    // A resolver follows a CNAME to another name's zone: what begins here has its records here.
    async nameServers(zone) {
      const { records } = await askAny(zone, "NS");
      return foundIn({ records: records.filter(({ name }) => name === canonicalName(zone)) });
    },
    async addresses(host) {
      const [four, six] = await Promise.all([askAny(host, "A"), askAny(host, "AAAA")]);
      return foundIn({ records: [...four.records, ...six.records] });
    },
  };
}

/** The questions of a zone's own servers. */
export function createServerQuestions(ask: Ask): ServerQuestions {
  return {
    async texts(server, name) {
      const { records } = await ask(server, { name, type: "TXT", recursive: false });
      const kept = records.find(({ ttl }) => ttl > 0);
      if (kept)
        throw new Error(
          `${server} lets caches keep TXT ${name} for ${kept.ttl} s: a cache may have answered, for it has TTL 0`,
        );
      return records.length === 0 ? undefined : foundIn({ records }).values;
    },
    async zoneOf(server, name) {
      const { zone } = await ask(server, { name, type: "SOA", recursive: false });
      if (zone === undefined) throw new Error(`${server} does not say in which zone ${name} is`);
      return zone;
    },
    nameServers: async (server, zone) => foundIn(await ask(server, { name: zone, type: "NS", recursive: false })),
  };
}

function foundIn({ records }: Pick<Answer, "records">): Found {
  const ttl = 1000 * Math.max(0, ...records.map((record) => record.ttl));
  return { values: records.flatMap(({ value }) => (value === undefined ? [] : [value])), ttl };
}
