import { Resolver } from "node:dns/promises";

/** A server that is silent for this long, in ms, is asked once more; after about 2 s in all it counts as not answering. */
const timeout = { timeout: 700, tries: 2 };

/** The servers to ask, as `address` or `address:port`; the system's resolvers when there are none. Nothing is cached. */
export type Servers = readonly string[];

/** The values of a TXT record; undefined when the servers say that there are none. Throws when no server answers. */
export async function queryText(servers: Servers, name: string): Promise<string[] | undefined> {
  const values = await query(servers, `TXT ${name}`, (resolver) => resolver.resolveTxt(name));
  return values?.map((strings) => strings.join(""));
}

/** The names of the servers of the zone that begins at this very name; undefined when none begins here. */
export function queryNameServers(servers: Servers, name: string): Promise<string[] | undefined> {
  return query(servers, `NS ${name}`, (resolver) => resolver.resolveNs(name));
}

/** All addresses of a host, written as this module takes them. */
export async function queryAddresses(servers: Servers, host: string): Promise<string[]> {
  const [four, six] = await Promise.all([
    query(servers, `A ${host}`, (resolver) => resolver.resolve4(host)),
    query(servers, `AAAA ${host}`, (resolver) => resolver.resolve6(host)),
  ]);
  return [...(four ?? []), ...(six ?? []).map((address) => `[${address}]`)];
}

/** One channel per question: it remembers no earlier answer and no server's earlier silence. */
async function query<T>(
  servers: Servers,
  what: string,
  ask: (resolver: Resolver) => Promise<T>,
): Promise<T | undefined> {
  const resolver = new Resolver(timeout);
  if (servers.length > 0) resolver.setServers(servers);
  try {
    return await ask(resolver);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENODATA" || code === "ENOTFOUND") return undefined;
    const asked = servers.length > 0 ? servers.join(", ") : "the system's resolvers";
    throw new Error(`cannot ask ${asked} for ${what}: ${String(code ?? error)}`, { cause: error });
  }
}
