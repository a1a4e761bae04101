import { queryAddresses, queryNameServers, type Servers } from "./query.ts";

/** Finds the servers that answer for the zone which a name is in. */
export interface ZoneServers {
  /** Their addresses, each once, `address` or `address:port`. Throws when they cannot be found. */
  of(name: string): Promise<readonly string[]>;
}

/** How long, in ms, it is remembered where a zone begins and which servers it has. */
const MEMORY = 60_000;

/** How the servers of a zone are found. */
export interface ZoneServersOptions {
  /** Whom to ask for them; the system's resolvers unless told otherwise. What the zone holds is never asked of these. */
  readonly resolvers?: Servers;
  /** The servers themselves, all of them, where they are known beforehand: nobody is asked then. */
  readonly servers?: Servers;
}

/**
 * Walks up from the name until a zone begins. What was found is remembered for a minute; what failed is not. A server
 * that is taken out of a zone therefore has to be switched off, or be kept up to date for as long as it is remembered.
 */
export function createZoneServers({ resolvers = [], servers = [] }: ZoneServersOptions = {}): ZoneServers {
  if (servers.length > 0) return { of: async () => servers };
  const memory = new Map<string, { readonly found: Promise<readonly string[]>; readonly at: number }>();

  const remembered = (key: string, find: () => Promise<readonly string[]>): Promise<readonly string[]> => {
    const now = performance.now();
    for (const [old, { at }] of memory) if (now - at > MEMORY) memory.delete(old);
    const entry = memory.get(key) ?? { found: find(), at: now };
    memory.set(key, entry);
    entry.found.catch(() => memory.get(key) === entry && memory.delete(key));
    return entry.found;
  };

  const hostsOf = (name: string) =>
    remembered(`hosts ${name}`, async () => (await queryNameServers(resolvers, name)) ?? []);
  const addressesOf = (host: string) => remembered(`addresses ${host}`, () => queryAddresses(resolvers, host));

  return {
    async of(name) {
      for (let zone = name.replace(/\.$/, ""); zone !== ""; zone = parentOf(zone)) {
        const hosts = await hostsOf(zone);
        if (hosts.length > 0) return await allAddresses(zone, hosts, addressesOf);
      }
      throw new Error(`cannot find the DNS servers of ${name}: no zone holds it`);
    },
  };
}

/** A server without an address may be the one that answers something else, so it is an error. */
async function allAddresses(
  zone: string,
  hosts: readonly string[],
  addressesOf: (host: string) => Promise<readonly string[]>,
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
