import { createLeaderLookup, createZoneServers, formatLeader, isLeader, type Leader } from "../../src/dns/index.ts";
import { createLeadershipGuard, OperationRefused } from "../../src/extension/index.ts";
import { createLogger } from "../../src/log.ts";
import { createModelProcess, type ModelProcess, type Pause } from "./model-process.ts";
import { createVirtualTime } from "./virtual-time.ts";

/** Everything that chance decides in one run of the model. Times are ms; a clock of rate 1.1 shows 11 s after 10. */
export interface Schedule {
  /** The first leads from A, the next from B, then A again, …; after the last of these, one more leads to the end. */
  readonly terms: readonly Term[];
  readonly flowRate: number;
  readonly lastRate: number;
  /** For each secondary, how long it takes to learn of a change. */
  readonly lags: readonly number[];
  /** A server that joins the zone when the first change is near, if any does; `lag` is as above. */
  readonly joins?: { readonly at: number; readonly lag: number } | undefined;
  /** How long the resolver of each process goes on without knowing it, in turn. */
  readonly resolvers: readonly number[];
  /** What happens to each question, in turn. */
  readonly packets: readonly { readonly lost: boolean; readonly there: number; readonly back: number }[];
  /** What controllers do, in turn: after `gap` a call that takes `duration`, and has effects for `flight` after that. */
  readonly acts: readonly { readonly gap: number; readonly duration: number; readonly flight: number }[];
}

/** One leader's turn, and what happens to its controller around the end of it. */
export interface Term {
  /** From when the flow is there to end it. */
  readonly lasts: number;
  readonly rate: number;
  /** When the controller can't reach the DNS, counted from half a lease before the change. */
  readonly outage: { readonly at: number; readonly length: number };
  /** Counted from there, too. */
  readonly pauses: readonly Pause[];
}

/** What is under test besides the guard; the defaults are the protocol's. */
export interface Protocol {
  /** How many leases the flow waits from when all servers name the new leader. */
  readonly waits?: number;
  /** Whether it waits for all servers, or only until the change was accepted. */
  readonly asksAll?: boolean;
  /** Whether it asks the servers themselves which ones there are, or only a resolver. */
  readonly asksForList?: boolean;
  /** How old an answer may be that controllers are given. */
  readonly cache?: number;
}

/** One call to the world outside, under the epoch that its controller believed in. */
export interface Act {
  readonly epoch: number;
  readonly start: number;
  /** Infinity if it has not ended. */
  end: number;
}

/** In ms. */
export const LEASE = 60_000;

/** How many calls an operation makes. */
const CALLS = 12;

/** What a server holds: who leads, and which servers there are. */
interface Version {
  readonly leader: Leader;
  readonly hosts: readonly string[];
}

/** How long a question is waited for, in ms. */
const PATIENCE = 5_000;

const ZONE = "example.org";
const record = `shoot.project.leadership.${ZONE}`;
/** The server that joins. */
const JOINING = "joining";
const log = createLogger({ name: "model", level: "silent" });

/** Runs the framework's guard and look-up in a world of drifting clocks, lagging servers, lost packets and pauses. */
export async function runModel(schedule: Schedule, protocol: Protocol = {}): Promise<Act[]> {
  const { waits = 2, asksAll = true, asksForList = true, cache = 0 } = protocol;
  const time = createVirtualTime();
  const acts: Act[] = [];
  const lastEpoch = schedule.terms.length + 1;
  const servers = ["primary", ...schedule.lags.map((_, index) => `secondary-${index}`)];
  const zone = new Map<string, Version>(
    servers.map((server) => [server, { leader: { seed: "A", epoch: 1 }, hosts: servers }]),
  );
  let joinedAt = Infinity;
  const resolvers = inTurn(schedule.resolvers);
  const packets = inTurn(schedule.packets);
  const actions = inTurn(schedule.acts);

  const newProcess = (rate: number, term?: Term) => {
    const process = createModelProcess(time, rate);
    let outage = { from: Infinity, to: Infinity };
    const query = createQuery(process, () => time.now() >= outage.from && time.now() < outage.to);
    const ignorance = resolvers();
    const zoneServers = createZoneServers(
      {},
      {
        now: process.clock.now,
        addresses: async (_, host) => [host],
        async nameServers([server], name) {
          if (name !== ZONE) return undefined;
          if (server === undefined) return time.now() < joinedAt + ignorance ? [...servers] : [...servers, JOINING];
          return asksForList ? [...(await query(server)).hosts] : undefined;
        },
      },
    );
    const askLeader = async (server: string) => formatLeader((await query(server)).leader);
    return {
      ...process,
      lookup: createLeaderLookup(zoneServers, askLeader),
      /** The change is half a lease away. */
      foresee() {
        const { at = 0, length = 0 } = term?.outage ?? {};
        outage = { from: time.now() + at, to: time.now() + at + length };
        for (const pause of term?.pauses ?? []) process.pause({ ...pause, at: time.now() + pause.at });
      },
    };
  };

  /** A question travels, is answered from what the server holds when it arrives, and the answer travels back. */
  const createQuery = (process: ModelProcess, isCutOff: () => boolean) => (server: string) =>
    new Promise<Version>((resolve, reject) => {
      const { lost, there, back } = packets();
      const fail = () => process.deliver(() => reject(new Error(`${server} is silent`)));
      const silence = time.at(time.now() + PATIENCE, fail);
      if (lost || isCutOff()) return;
      time.at(time.now() + there, () => {
        const version = zone.get(server);
        if (version === undefined || there + back >= PATIENCE) return;
        silence.cancel();
        time.at(time.now() + back, () => process.deliver(() => resolve(version)));
      });
    });

  /** A server that takes long for one version may have a later one before it, which it keeps. */
  const copy = (server: string, version: Version) => {
    const held = zone.get(server);
    const isLater =
      version.leader.epoch >= (held?.leader.epoch ?? 0) && version.hosts.length >= (held?.hosts.length ?? 0);
    if (isLater) zone.set(server, version);
  };

  const write = (changed: Partial<Version>) => {
    const version = { leader: { seed: "A", epoch: 1 }, hosts: servers, ...zone.get("primary"), ...changed };
    zone.set("primary", version);
    for (const [index, lag] of schedule.lags.entries())
      time.at(time.now() + lag, () => copy(`secondary-${index}`, version));
    if (zone.has(JOINING)) time.at(time.now() + (schedule.joins?.lag ?? 0), () => copy(JOINING, version));
  };

  /** It copies the zone as it joins. */
  const join = () => {
    joinedAt = time.now();
    write({ hosts: [...servers, JOINING] });
    const version = zone.get("primary");
    if (version) zone.set(JOINING, version);
  };

  /** Is never told of anything: like a seed that is cut off from the garden, it has the DNS alone to go by. */
  const control = async (process: ReturnType<typeof newProcess>, seed: string, epoch: number) => {
    const ask = cached(process, process.lookup.ask, cache);
    const guard = createLeadershipGuard({ ask, log, clock: process.clock });
    for (;;) {
      try {
        const permit = await guard.enter(operationOf(seed, epoch));
        for (let left = CALLS; left > 0; left--) {
          const { gap, duration, flight } = actions();
          await process.clock.sleep(gap, permit.signal);
          permit.check();
          await process.afterCheck();
          const act: Act = { epoch, start: time.now(), end: Infinity };
          acts.push(act);
          await process.clock.sleep(duration, permit.signal);
          act.end = time.now() + flight;
        }
        permit.release();
      } catch (error) {
        if (!(error instanceof OperationRefused)) throw error;
      }
      await process.sleep(11_000);
    }
  };

  const flow = async () => {
    const process = newProcess(schedule.flowRate);
    const { terms } = schedule;
    for (const [index, term] of terms.entries()) {
      const controller = newProcess(term.rate, term);
      void control(controller, seedOf(index + 1), index + 1);
      await process.sleep(term.lasts);
      controller.foresee();
      if (index === 0 && schedule.joins) time.at(time.now() + schedule.joins.at, join);
      await time.sleep(LEASE / 2);
      const leader = { seed: seedOf(index + 2), epoch: index + 2 };
      write({ leader });
      while (asksAll && !(await process.lookup.askAll(record)).every((answer) => isLeader(answer.leader, leader)))
        await process.sleep(2_000);
      await process.sleep(waits * LEASE);
    }
    void control(newProcess(schedule.lastRate), seedOf(lastEpoch), lastEpoch);
  };

  void flow();
  const isOver = () => acts.some(({ epoch, start }) => epoch === lastEpoch && start < time.now() - LEASE);
  while (time.now() < LONGEST && !isOver()) await time.run(time.now() + LEASE / 2);
  return acts;
}

/** The first act that had not ended when a later leader began to act. */
export function findConflict(acts: readonly Act[]): { readonly early: Act; readonly late: Act } | undefined {
  for (const late of acts) {
    const early = acts.find(({ epoch, end }) => epoch < late.epoch && end > late.start);
    if (early) return { early, late };
  }
  return undefined;
}

/** A run that nothing comes of ends after this, in ms. */
const LONGEST = 15 * LEASE;

const seedOf = (epoch: number): string => (epoch % 2 === 1 ? "A" : "B");

function inTurn<T>(items: readonly T[]): () => T {
  let next = 0;
  return () => items[next++ % items.length] as T;
}

/** What the protocol forbids: answers from a memory. */
function cached(process: ModelProcess, ask: (record: string) => Promise<Leader | undefined>, age: number) {
  let known: { readonly leader: Leader | undefined; readonly at: number } | undefined;
  return async () => {
    const now = process.clock.now();
    if (known === undefined || now - known.at >= age) known = { leader: await ask(record), at: process.clock.now() };
    return known.leader;
  };
}

function operationOf(value: string, epoch: number) {
  const object = {
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Worker",
    metadata: { name: "w", namespace: "shoot--project--shoot" },
    spec: { type: "model", leadership: { record, value, epoch, leaseSeconds: LEASE / 1000 } },
  };
  return { object, cluster: undefined, type: "Reconcile" as const };
}
