import { createLeaderLookup, createZoneServers, isLeader, type LeaderLookup } from "../../src/dns/index.ts";
import { createLeadershipGuard, OperationRefused, type Permit } from "../../src/extension/index.ts";
import { createLogger } from "../../src/log.ts";
import { createModelProcess } from "./model-process.ts";
import { LEASE, type Schedule, type Term } from "./split-brain-schedule.ts";
import { createZone, RECORD, type ZoneFaults } from "./split-brain-zone.ts";
import { createVirtualTime } from "./virtual-time.ts";

/** What is under test besides guard and look-up; the defaults are the protocol's, and every other value is a fault. */
export interface Protocol extends ZoneFaults {
  /** How many leases the flow waits from when all servers name the new leader. */
  readonly waits?: number;
  /** By which clock it waits; a wall clock is set forward meanwhile. */
  readonly waitsBy?: "monotonic clock" | "wall clock";
  /** Which lease it waits for: the longest that objects hold, or its own configuration's, half of that. */
  readonly waitsFor?: "longest" | "own";
  /** Whether it waits for all servers, or only until the change was accepted. */
  readonly asksAll?: boolean;
  /** Whether it remembers the servers that it has seen while it waits for all. */
  readonly remembersServers?: boolean;
  /** Whether processes remember the highest epoch that they have heard. */
  readonly remembersEpochs?: boolean;
  /** Whether the primary is restored from a backup although its processes may not have heard of the next leader. */
  readonly goesBackUnheard?: boolean;
  /** Whether the objects say on which leadership their controllers depend. */
  readonly leadership?: boolean;
}

/** One call to the world outside, under the epoch that its controller believed in. */
export interface Act {
  readonly epoch: number;
  readonly start: number;
  /** Infinity if it has not ended. */
  end: number;
}

/** How many calls an operation makes. */
const CALLS = 12;

/** A run that nothing comes of ends after this, in ms. */
const LONGEST = 18 * LEASE;

const log = createLogger({ name: "model", level: "silent" });

/**
 * Runs the framework's guard, look-up and messages in a world of drifting clocks, lagging servers, lost packets, caches
 * and pauses.
 */
export async function runModel(schedule: Schedule, protocol: Protocol = {}): Promise<Act[]> {
  const { waits = 2, asksAll = true, leadership = true } = protocol;
  const time = createVirtualTime();
  const zone = createZone(time, schedule, protocol);
  const acts: Act[] = [];
  const lastEpoch = schedule.terms.length + 1;
  const resolvers = inTurn(schedule.resolvers);
  const caches = inTurn(schedule.caches);
  const leases = inTurn(schedule.leases);
  const actions = inTurn(schedule.acts);

  const newProcess = (rate: number, term?: Term) => {
    const process = createModelProcess(time, rate);
    const { now } = process.clock;
    let outage = { from: Infinity, to: Infinity };
    let halfFrom = Infinity;
    let sent = 0;
    let confirmed = 0;
    let arrived: (() => void) | undefined;
    const transports = zone.createTransports({
      ...{ process, isFlow: term === undefined, ignorance: resolvers(), cache: term === undefined ? 0 : caches() },
      isCutOff: (host) =>
        (time.now() >= outage.from && time.now() < outage.to) || (time.now() >= halfFrom && host !== "secondary-0"),
      onSent: () => void (sent = now()),
      onArrival() {
        confirmed = sent;
        arrived?.();
      },
    });
    const newLookup = (): LeaderLookup =>
      createLeaderLookup(createZoneServers({ resolvers: [zone.resolver] }, { transports, now }));
    const lookup = newLookup();
    let aimed = false;
    /** Resolves right after a question has reached a server. */
    const aim = async ({ halfCutOff }: Term, { after }: NonNullable<Term["aim"]>) => {
      await Promise.race([new Promise<void>((resolve) => (arrived = resolve)), time.sleep(LEASE / 2)]);
      if (!halfCutOff) outage = { from: time.now(), to: time.now() + 3 * LEASE };
      aimed = true;
      await time.sleep(after);
    };
    return {
      ...process,
      /** Code that remembers less is as good as new with every question. */
      lookup: {
        ask: (record) => (protocol.remembersEpochs === false ? newLookup() : lookup).ask(record),
        askAll: (record) => (protocol.remembersServers === false ? newLookup() : lookup).askAll(record),
      } satisfies LeaderLookup,
      /** The change is half a lease away; resolves when it is to come. */
      async foresee(): Promise<void> {
        const half = time.now() + LEASE / 2;
        if (term?.halfCutOff) halfFrom = time.now();
        if (term?.aim) return await aim(term, term.aim);
        const { at = 0, length = 0 } = term?.outage ?? {};
        outage = { from: time.now() + at, to: time.now() + at + length };
        for (const pause of term?.pauses ?? []) process.pause({ ...pause, at: time.now() + pause.at });
        await time.sleep(half - time.now());
      },
      /** How long, by its clock, the controller goes on without a call. */
      gapBefore: (given: number, lease: number): number =>
        aimed ? Math.max(0, confirmed + lease - now() - (term?.aim?.margin ?? 0)) : given,
      /** Between its look at the permit and the call that it allows. */
      async beforeCall(): Promise<void> {
        if (aimed) process.pause({ at: 0, afterCheck: true, length: term?.aim?.pause ?? 0 });
        aimed = false;
        await process.afterCheck();
      },
    };
  };
  type Process = ReturnType<typeof newProcess>;

  const operate = async (process: Process, permit: Permit, epoch: number, lease: number) => {
    for (let left = CALLS; left > 0; left--) {
      const { gap, duration, flight } = actions();
      await process.clock.sleep(process.gapBefore(gap, lease), permit.signal);
      permit.check();
      await process.beforeCall();
      const act: Act = { epoch, start: time.now(), end: Infinity };
      acts.push(act);
      await process.clock.sleep(duration, permit.signal);
      act.end = time.now() + flight;
    }
    permit.release();
  };

  /** The primary is restored from a backup in which this was the leader. */
  const goBack = (leader: { seed: string; epoch: number }) => {
    const { goesBack } = schedule;
    if (goesBack && leader.epoch < lastEpoch)
      time.at(time.now() + goesBack.at, () => zone.goBack("primary", leader, goesBack.length));
  };

  /** Is never told of anything: like a seed that is cut off from the garden, it has the DNS alone to go by. */
  const control = async (process: Process, seed: string, epoch: number) => {
    const { ask } = process.lookup;
    const guard = createLeadershipGuard({ ask, log, clock: process.clock });
    const lease = leases() * LEASE;
    for (let refusals = 0; ;) {
      try {
        await operate(process, await guard.enter(operationOf({ seed, epoch, lease, leadership })), epoch, lease);
      } catch (error) {
        if (!(error instanceof OperationRefused)) throw error;
        const named = Number(/ names \w in epoch (\d+)/.exec(error.message)?.[1] ?? 0);
        // A controller that begins while the primary has gone back is refused, too, and has heard of no later leader.
        const lost = named > epoch && ++refusals === 1;
        if (lost && protocol.goesBackUnheard !== true) goBack({ seed, epoch });
      }
      await process.sleep(17_000);
    }
  };

  /** Resolves when all servers name the leader. A server may be taken out of the zone once the flow has seen it. */
  const publish = async ({ lookup, sleep }: Process, leader: { seed: string; epoch: number }) => {
    zone.change(leader);
    for (let attempt = 1; asksAll; attempt++) {
      const answers = await lookup.askAll(RECORD).catch(() => []);
      if (answers.length > 0 && answers.every((answer) => isLeader(answer.leader, leader))) return;
      const { leaves } = schedule;
      if (attempt === 1 && leader.epoch === 2 && leaves !== undefined && answers.length > 0)
        time.at(time.now() + leaves, () => zone.leave("secondary-0"));
      await sleep(Math.min(attempt * 2_000, 12_000));
    }
  };

  const awaitLeases = async ({ sleep }: Process) => {
    const lease = protocol.waitsFor === "own" ? LEASE / 2 : LEASE;
    const skipped = protocol.waitsBy === "wall clock" ? schedule.step : 0;
    await sleep(Math.max(0, waits * lease - skipped));
  };

  const flow = async () => {
    const process = newProcess(schedule.flowRate);
    for (const [index, term] of schedule.terms.entries()) {
      const controller = newProcess(term.rate, term);
      void control(controller, seedOf(index + 1), index + 1);
      await process.sleep(term.lasts);
      if (index === 0 && schedule.joins) time.at(time.now() + schedule.joins.at, zone.join);
      await controller.foresee();
      await publish(process, { seed: seedOf(index + 2), epoch: index + 2 });
      if (protocol.goesBackUnheard === true) goBack({ seed: seedOf(index + 1), epoch: index + 1 });
      await awaitLeases(process);
    }
    const last = { lasts: 0, rate: schedule.lastRate, outage: never, halfCutOff: false, pauses: [] };
    void control(newProcess(schedule.lastRate, last), seedOf(lastEpoch), lastEpoch);
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

const never = { at: Infinity, length: 0 };

const seedOf = (epoch: number): string => (epoch % 2 === 1 ? "A" : "B");

function inTurn<T>(items: readonly T[]): () => T {
  let next = 0;
  return () => items[next++ % items.length] as T;
}

function operationOf(o: { seed: string; epoch: number; lease: number; leadership: boolean }) {
  const { seed: value, epoch, lease, leadership } = o;
  const led = { leadership: { record: RECORD, value, epoch, leaseSeconds: lease / 1000 } };
  const object = {
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Worker",
    metadata: { name: "w", namespace: "shoot--project--shoot" },
    spec: { type: "model", ...(leadership ? led : {}) },
  };
  return { object, cluster: undefined, type: "Reconcile" as const };
}
