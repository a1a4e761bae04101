import fc from "fast-check";
import { BOUND, LEASE, LONGEST_FLIGHT, schedules, type Schedule } from "./split-brain-schedule.ts";
import { findConflict, runModel, type Act, type Protocol } from "./split-brain.ts";

/** What a search over schedules of the protocol has seen. */
export interface Seen {
  readonly schedules: number;
  readonly acts: number;
  /** Schedules in which two leaders acted, and in which a third did. */
  readonly handedOver: number;
  readonly again: number;
  /** The shortest time between the last act of a leader and the first of the next, in leases. */
  readonly closest: number;
  /** The first schedule in which two acted at once, if there is one. */
  readonly conflict?: string;
}

/** One way to break the protocol: what is done otherwise, and how long processes may stand still, in ms. */
export interface Fault {
  readonly protocol: Protocol;
  readonly bound?: number;
}

/** The faults that a search has to find, by what they are. */
export const faults: Readonly<Record<string, Fault>> = {
  "waits 1 lease": { protocol: { waits: 1 } },
  "waits 1.25 leases": { protocol: { waits: 1.25 } },
  "waits 1.5 leases": { protocol: { waits: 1.5 } },
  "waits 1.8 leases": { protocol: { waits: 1.8 } },
  "waits by a wall clock that is set forward by up to half a lease": { protocol: { waitsBy: "wall clock" } },
  "waits two of its own leases, where objects hold longer ones": { protocol: { waitsFor: "own" } },
  "does not wait until all servers name the new leader": { protocol: { asksAll: false } },
  "asks only a resolver which servers there are": { protocol: { oldLists: true } },
  "believes a resolver that denies the zone": { protocol: { forgedCuts: true } },
  "believes a cache of one lease": { protocol: { forgedCaches: true } },
  "forgets a server that is taken out while it waits": { protocol: { remembersServers: false } },
  "believes a server that has gone back": { protocol: { remembersEpochs: false } },
  "is restored from a backup before the former leader has heard of the next": { protocol: { goesBackUnheard: true } },
  "keeps the record on anycast addresses": { protocol: { anycast: true } },
  "lets objects without leadership be acted on": { protocol: { leadership: false } },
  "has to cope with pauses of two leases": { protocol: {}, bound: 2 * LEASE + LONGEST_FLIGHT },
};

/** Runs the protocol over so many schedules, or until two leaders act at once. */
export async function search(count: number, seed?: number): Promise<Seen> {
  const seen = { schedules: 0, acts: 0, handedOver: 0, again: 0, closest: Infinity };
  const property = fc.asyncProperty(schedules(BOUND - LONGEST_FLIGHT), async (schedule) => {
    const acts = await runModel(schedule);
    if (findConflict(acts)) return false;
    const epochs = new Set(acts.map(({ epoch }) => epoch));
    seen.schedules++;
    seen.acts += acts.length;
    if (epochs.has(2) && epochs.has(1)) seen.handedOver++;
    if (epochs.has(3)) seen.again++;
    seen.closest = Math.min(seen.closest, ...gaps(acts));
    return true;
  });
  const { failed, counterexample } = await fc.check(property, {
    numRuns: count,
    ...(seed === undefined ? {} : { seed }),
  });
  const conflict = failed ? { conflict: JSON.stringify(counterexample) } : {};
  return { ...seen, closest: seen.closest / LEASE, ...conflict };
}

/** After how many schedules a fault makes two leaders act at once, and in which; undefined when so many do not show it. */
export async function find(
  { protocol, bound = BOUND }: Fault,
  count: number,
  seed?: number,
): Promise<{ readonly schedules: number; readonly schedule: Schedule } | undefined> {
  const property = fc.asyncProperty(
    schedules(bound - LONGEST_FLIGHT),
    async (schedule) => findConflict(await runModel(schedule, protocol)) === undefined,
  );
  const options = { numRuns: count, endOnFailure: true, ...(seed === undefined ? {} : { seed }) };
  const { counterexample, numRuns } = await fc.check(property, options);
  return counterexample === null ? undefined : { schedules: numRuns, schedule: counterexample[0] };
}

/** The file of the schedule that has shown a fault. */
export const keptFile = (what: string): URL =>
  new URL(`../split-brain/kept/${what.replaceAll(/[^a-z0-9]+/g, "-")}.json`, import.meta.url);

/** In words. */
export function describeSearch({ schedules, acts, handedOver, again, closest }: Seen): string {
  return (
    `split brain: ${schedules} schedules, ${acts} acts, ${handedOver} with acts of two leaders, ` +
    `${again} with acts of a third; closest to each other ${closest.toFixed(2)} leases`
  );
}

/** How long after the last act of each leader the first one of the next began. */
function gaps(acts: readonly Act[]): number[] {
  return [2, 3].flatMap((epoch) => {
    const earlier = acts.filter((act) => act.epoch < epoch).map(({ end }) => end);
    const later = acts.filter((act) => act.epoch === epoch).map(({ start }) => start);
    return later.length === 0 || earlier.length === 0 ? [] : [Math.min(...later) - Math.max(...earlier)];
  });
}
