import { queryAddresses, queryNameServers, type Servers } from "./query.ts";

/** Finds the servers that answer for the zone which a name is in. */
export interface ZoneServers {
  /** Their addresses, each once, `address` or `address:port`. Throws when they cannot be found. */
  of(name: string): Promise<readonly string[]>;
}

/** How long, in ms, it is remembered where a zone begins and which servers it has. */
const MEMORY = 60_000;

/**
 * Walks up from the name until a zone begins, through the resolvers given or else the system's. What was found is
 * remembered for a minute; what failed is not. What the zone holds is never asked of a resolver.
 */
export function createZoneServers({ resolvers = [] }: { readonly resolvers?: Servers } = {}): ZoneServers {
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

/** The servers of every zone, where they are known beforehand or answer on a port of their own. */
export function fixedServers(servers: Servers): ZoneServers {
  return { of: async () => servers };
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
