import { createAsk, type AskOptions } from "./ask.ts";
import { createKeySource } from "./key-file.ts";
import {
  createResolverQuestions,
  createServerQuestions,
  type Found,
  type ResolverQuestions,
  type ServerQuestions,
  type Servers,
} from "./questions.ts";
import { createSightings, type Sightings } from "./sightings.ts";
import { allAddresses, findCut, locateZone, type Located, type ZoneSearch } from "./zone-cut.ts";

/** Finds the servers that answer for the zone which a name is in. Addresses are as in {@link Servers}, each once. */
export interface ZoneServers {
  /** What the servers themselves are asked. */
  readonly questions: ServerQuestions;
  /** Their addresses, as known for at most a minute. Throws when they cannot be found. */
  of(name: string): Promise<readonly string[]>;
  /** Forgets what is remembered of the way to them, because none of them answered. */
  forget(): void;
  /** Looks for them afresh, as a beginning: resolvers may not have heard of one that was added. Throws likewise. */
  survey(name: string): Promise<ZoneSurvey>;
}

/** The servers of a zone that are known, and a way to find the others. */
export interface ZoneSurvey {
  /** Those that are in the zone's records now, and those that were a short time ago. */
  readonly servers: readonly string[];
  /** The addresses of all servers that this one lists; none where they are known beforehand. Throws when it is silent. */
  listedBy(server: string): Promise<readonly string[]>;
}

/** How long, in ms, it is remembered where a zone begins and which servers it has. */
const ZONE_MEMORY = 60_000;

/** How the servers of a zone are found and asked. */
export interface ZoneServersOptions {
  /** Whom to ask for them; the system's resolvers unless told otherwise. What the zone holds is never asked of these. */
  readonly resolvers?: Servers;
  /** The servers themselves, all of them, where they are known beforehand: no resolver is asked then. */
  readonly servers?: Servers;
  /** The file of the key (TSIG) that signs questions and holds the answers of the zone's servers to it. */
  readonly keyFile?: string | undefined;
}

/** The network and the time, in ms of a clock that never goes back, unless a test brings others. */
export interface ZoneServersDeps extends Pick<AskOptions, "transports"> {
  readonly now?: () => number;
}

/** Walks up from the name until a zone begins. What `of` found is remembered for a minute; what failed is not. */
export function createZoneServers(
  { resolvers = [], servers = [], keyFile }: ZoneServersOptions = {},
  { transports, now = () => performance.now() }: ZoneServersDeps = {},
): ZoneServers {
  const key = keyFile === undefined ? undefined : createKeySource(keyFile, now);
  const ask = createAsk({ key, transports });
  const questions = createServerQuestions(ask);
  if (servers.length > 0) return knownServers(questions, servers);
  const resolve = createResolverQuestions(ask, resolvers);
  const afresh: ZoneSearch = {
    resolvers: resolve,
    findCut: (name, zone, servers) => findCut(questions, "lowest", { name, zone, servers }),
  };
  const memory = createMemory(now);
  const remembered = rememberSearch(memory, questions, resolve);
  const sightings = createSightings(ZONE_MEMORY, now);
  return {
    questions,
    async of(name) {
      const located = locateZone(name, remembered);
      located.catch(memory.clear);
      return (await located).servers;
    },
    forget: memory.clear,
    survey: async (name) =>
      surveyOf({ name, questions, resolvers: resolve, sightings }, await locateZone(name, afresh)),
  };
}

function knownServers(questions: ServerQuestions, servers: Servers): ZoneServers {
  return {
    questions,
    of: async () => servers,
    forget: () => undefined,
    survey: async () => ({ servers, listedBy: async () => [] }),
  };
}

interface SurveyDeps {
  readonly name: string;
  readonly questions: ServerQuestions;
  readonly resolvers: ResolverQuestions;
  readonly sightings: Sightings;
}

function surveyOf({ name, questions, resolvers, sightings }: SurveyDeps, { zone, ttl, servers }: Located): ZoneSurvey {
  const see = async (found: Found): Promise<readonly string[]> => {
    const addresses = await allAddresses(zone, found.values, { resolvers });
    sightings.see(zone, addresses.values, Math.max(found.ttl, addresses.ttl));
    return addresses.values;
  };
  sightings.see(zone, servers, ttl);
  return {
    servers: [...new Set([...servers, ...sightings.of(zone)])],
    async listedBy(server) {
      const there = await questions.zoneOf(server, name);
      if (there !== zone) throw new Error(`${server} has ${name} in zone ${there}, not in ${zone}`);
      return await see(await questions.nameServers(server, zone));
    },
  };
}

/** Each answer on the way is remembered by itself, because the ways of many names have most of it in common. */
function rememberSearch(memory: Memory, questions: ServerQuestions, resolvers: ResolverQuestions): ZoneSearch {
  return {
    resolvers: {
      nameServers: (zone) => memory.recall(`hosts ${zone}`, () => resolvers.nameServers(zone)),
      addresses: (host) => memory.recall(`addresses ${host}`, () => resolvers.addresses(host)),
    },
    findCut: (name, zone, servers) =>
      memory.recall(`cut ${zone} ${name}`, () => findCut(questions, "first", { name, zone, servers })),
  };
}

type Memory = ReturnType<typeof createMemory>;

/** Remembers what was found for at most {@link ZONE_MEMORY}, and no failure. */
function createMemory(now: () => number) {
  const entries = new Map<string, { readonly found: Promise<unknown>; readonly at: number }>();
  return {
    recall<T>(key: string, find: () => Promise<T>): Promise<T> {
      const time = now();
      for (const [old, { at }] of entries) {
        if (time - at <= ZONE_MEMORY) break; // the oldest stand first
        entries.delete(old);
      }
      const known = entries.get(key);
      if (known !== undefined) return known.found as Promise<T>;
      const found = find();
      const entry = { found, at: time };
      entries.set(key, entry);
      found.catch(() => entries.get(key) === entry && entries.delete(key));
      return found;
    },
    clear: () => entries.clear(),
  };
}
