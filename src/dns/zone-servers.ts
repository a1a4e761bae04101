import { queryAddresses, queryNameServers, type Servers } from "./query.ts";

/** Finds the servers that answer for the zone which a name is in. Addresses are `address` or `address:port`, each once. */
export interface ZoneServers {
  /** Their addresses, as known for at most a minute. Throws when they cannot be found. */
  of(name: string): Promise<readonly string[]>;
  /** Looks for them afresh, as a beginning: resolvers may not have heard of one that was added. Throws likewise. */
  survey(name: string): Promise<ZoneSurvey>;
}

/** The servers of a zone that resolvers know, and a way to find the others. */
export interface ZoneSurvey {
  readonly servers: readonly string[];
  /** The names of all servers, as one of them says itself; nothing where they are known beforehand. Throws when it is silent. */
  hostsBy(server: string): Promise<readonly string[]>;
  /** All addresses of those names. Throws when one has none. */
  addressesOf(hosts: readonly string[]): Promise<readonly string[]>;
}

/** How long, in ms, it is remembered where a zone begins and which servers it has. */
const MEMORY = 60_000;

/** How the servers of a zone are found. */
export interface ZoneServersOptions {
  /** Whom to ask for them; the system's resolvers unless told otherwise. What the zone holds is never asked of these. */
  readonly resolvers?: Servers;
  /** The servers themselves, all of them, where they are known beforehand: no resolver is asked then. */
  readonly servers?: Servers;
}

/** How questions are asked, and what time it is, in ms of a clock that never goes back. */
export interface ZoneQuestions {
  readonly nameServers: (servers: Servers, name: string) => Promise<string[] | undefined>;
  readonly addresses: (servers: Servers, host: string) => Promise<string[]>;
  readonly now: () => number;
}

const realQuestions: ZoneQuestions = {
  nameServers: queryNameServers,
  addresses: queryAddresses,
  now: () => performance.now(),
};

/**
 * Walks up from the name until a zone begins. What `of` found is remembered for a minute; what failed is not. A server
 * that is taken out of a zone therefore has to be switched off, or be kept up to date for as long as it is remembered.
 */
export function createZoneServers(
  { resolvers = [], servers = [] }: ZoneServersOptions = {},
  questions: ZoneQuestions = realQuestions,
): ZoneServers {
  if (servers.length > 0) return knownServers(servers);
  const asked: Search = {
    hostsOf: async (zone) => (await questions.nameServers(resolvers, zone)) ?? [],
    addressesOf: (host) => questions.addresses(resolvers, host),
  };
  const remembered = rememberSearch(asked, questions.now);
  return {
    async of(name) {
      const { zone, hosts } = await findZone(name, remembered);
      return await allAddresses(zone, hosts, remembered);
    },
    async survey(name) {
      const { zone, hosts } = await findZone(name, asked);
      return {
        servers: await allAddresses(zone, hosts, asked),
        hostsBy: async (server) => (await questions.nameServers([server], zone)) ?? [],
        addressesOf: (others) => allAddresses(zone, others, asked),
      };
    },
  };
}

/** What resolvers are asked on the way to a zone's servers. */
interface Search {
  hostsOf(zone: string): Promise<readonly string[]>;
  addressesOf(host: string): Promise<readonly string[]>;
}

function knownServers(servers: Servers): ZoneServers {
  return {
    of: async () => servers,
    survey: async () => ({ servers, hostsBy: async () => [], addressesOf: async () => [] }),
  };
}

function rememberSearch({ hostsOf, addressesOf }: Search, now: () => number): Search {
  const memory = new Map<string, { readonly found: Promise<readonly string[]>; readonly at: number }>();
  const remembered = (key: string, find: () => Promise<readonly string[]>): Promise<readonly string[]> => {
    const time = now();
    for (const [old, { at }] of memory) if (time - at > MEMORY) memory.delete(old);
    const entry = memory.get(key) ?? { found: find(), at: time };
    memory.set(key, entry);
    entry.found.catch(() => memory.get(key) === entry && memory.delete(key));
    return entry.found;
  };
  return {
    hostsOf: (zone) => remembered(`hosts ${zone}`, () => hostsOf(zone)),
    addressesOf: (host) => remembered(`addresses ${host}`, () => addressesOf(host)),
  };
}

async function findZone(name: string, { hostsOf }: Search): Promise<{ zone: string; hosts: readonly string[] }> {
  for (let zone = name.replace(/\.$/, ""); zone !== ""; zone = parentOf(zone)) {
    const hosts = await hostsOf(zone);
    if (hosts.length > 0) return { zone, hosts };
  }
  throw new Error(`cannot find the DNS servers of ${name}: no zone holds it`);
}

/** A server without an address may be the one that answers something else, so it is an error. */
async function allAddresses(
  zone: string,
  hosts: readonly string[],
  { addressesOf }: Search,
): Promise<readonly string[]> {
  const found = await Promise.all(
    hosts.map(async (host) => {
      const addresses = await addressesOf(host);
      if (addresses.length === 0) throw new Error(`cannot find the DNS server ${host} of ${zone}: it has no address`);
      return addresses;
    }),
  );
  return [...new Set(found.flat())];
}

function parentOf(name: string): string {
  return name.includes(".") ? name.slice(name.indexOf(".") + 1) : "";
}
