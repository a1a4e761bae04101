import { parseLeader, type Leader } from "./leader.ts";
import { queryText } from "./query.ts";
import type { ZoneServers } from "./zone-servers.ts";

/** What one server says: a leader, that there is none, or nothing at all. */
export interface ServerAnswer {
  readonly server: string;
  readonly leader?: Leader;
  /** Why there is no answer. */
  readonly error?: Error;
}

/** Asks the servers of a record's zone directly. */
export interface LeaderLookup {
  /** The leader that is named first; undefined when servers answer and none names one. Throws when no server answers. */
  ask(record: string): Promise<Leader | undefined>;
  /** What each server says. Throws only when it cannot be found out which servers there are. */
  askAll(record: string): Promise<ServerAnswer[]>;
}

/**
 * The first answer may come from a server that lags behind: whoever acts on it holds a lease that began when it asked,
 * and a change of the leader counts two leases from when `askAll` saw all servers agree.
 */
export function createLeaderLookup(
  servers: ZoneServers,
  query: (server: string, record: string) => Promise<string[] | undefined> = (server, record) =>
    queryText([server], record),
): LeaderLookup {
  const askOne = async (server: string, record: string) => parseLeader((await query(server, record)) ?? []);
  return {
    async ask(record) {
      const addresses = await servers.of(record);
      const answers = addresses.map((server) => askOne(server, record));
      try {
        return await Promise.any(answers.map(named));
      } catch (error) {
        // None of them named one. A server whose copy of the zone is empty may answer sooner than one that knows.
        const heard = await Promise.allSettled(answers);
        if (heard.some(({ status }) => status === "fulfilled")) return undefined;
        const reasons = error instanceof AggregateError ? error.errors.map(messageOf).join("; ") : messageOf(error);
        throw new Error(`cannot ask who leads ${record}: ${reasons}`, { cause: error });
      }
    },
    async askAll(record) {
      const addresses = await servers.of(record);
      return await Promise.all(
        addresses.map((server) =>
          askOne(server, record).then(
            (leader) => ({ server, ...(leader === undefined ? {} : { leader }) }),
            (error: unknown) => ({ server, error: unreachable(server, error) }),
          ),
        ),
      );
    },
  };
}

async function named(answer: Promise<Leader | undefined>): Promise<Leader> {
  const leader = await answer;
  if (leader === undefined) throw new Error("it names no leader");
  return leader;
}

/** Many a name server has an IPv6 address that not every network has a route to; it is waited for all the same. */
function unreachable(server: string, error: unknown): Error {
  const known = error instanceof Error ? error : new Error(String(error));
  if (!server.startsWith("[")) return known;
  const remedy =
    "if there is no route to it, list every server of the zone in PERENNIAL_ZONE_SERVERS of every process that looks up leaders, each by an address that can be reached";
  return new Error(`${known.message}; ${remedy}`, { cause: error });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
