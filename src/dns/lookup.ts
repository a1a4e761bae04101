import { createEpochMemory } from "./epoch-memory.ts";
import { parseLeader, type Leader } from "./leader.ts";
import type { ZoneServers, ZoneSurvey } from "./zone-servers.ts";

/** What one server says: a leader, that there is none, or nothing at all. */
export interface ServerAnswer {
  readonly server: string;
  readonly leader?: Leader;
  /** Why there is no answer. */
  readonly error?: Error;
}

/** Asks the servers of a record's zone directly. */
export interface LeaderLookup {
  /**
   * The leader that is named first; undefined when servers answer and none names one. An epoch below one that this
   * look-up has heard of the record is no answer. Throws when no server answers.
   */
  ask(record: string): Promise<Leader | undefined>;
  /**
   * What each server says: those that resolvers know, all that any of these lists, because resolvers remember a list
   * to which one was added, and those that were listed a short time ago. Throws only when it cannot be found out which
   * servers there are.
   */
  askAll(record: string): Promise<ServerAnswer[]>;
}

/** What a server says, and which servers it says there are. */
interface Heard {
  readonly answer: ServerAnswer;
  readonly listed: readonly string[];
}

/**
 * The first answer may come from a server that lags behind: a process that acts on it holds a lease that began when it asked,
 * and a change of the leader counts two leases from when `askAll` saw all servers agree.
 */
export function createLeaderLookup(servers: ZoneServers): LeaderLookup {
  const { texts } = servers.questions;
  const recall = createEpochMemory();

  const askOne = async (server: string, record: string): Promise<Leader | undefined> =>
    recall(server, record, (await texts(server, record)) ?? []);

  /**
   * Asks for the list last: a server that joins the zone after it, and copies the zone when it joins, then copies what
   * this one said of the leader, too.
   */
  const hear = async (server: string, record: string, zone: ZoneSurvey): Promise<Heard> => {
    try {
      const leader = parseLeader((await texts(server, record)) ?? []);
      const listed = await zone.listedBy(server);
      return { answer: { server, ...(leader === undefined ? {} : { leader }) }, listed };
    } catch (error) {
      return { answer: { server, error: unreachable(server, error) }, listed: [] };
    }
  };

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
        servers.forget();
        const reasons = error instanceof AggregateError ? error.errors.map(messageOf).join("; ") : messageOf(error);
        throw new Error(`cannot ask who leads ${record}: ${reasons}`, { cause: error });
      }
    },
    async askAll(record) {
      const zone = await servers.survey(record);
      const answers = new Map<string, ServerAnswer>();
      for (let next = zone.servers; next.length > 0;) {
        const heard = await Promise.all(next.map((server) => hear(server, record, zone)));
        for (const { answer } of heard) answers.set(answer.server, answer);
        const listed = new Set(heard.flatMap(({ listed }) => listed));
        next = [...listed].filter((server) => !answers.has(server));
      }
      return [...answers.values()];
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
