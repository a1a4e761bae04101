import fc from "fast-check";
import { BoundElsewhere } from "../../src/binding/bound-elsewhere.ts";
import type { BindingMemory } from "../../src/binding/memory.ts";
import { createCopyCheck } from "../../src/binding/copy-check.ts";
import { parseRevision } from "../../src/binding/revision.ts";
import { createBinding } from "../../src/binding/binding.ts";
import { createBindingGuard } from "../../src/extension/binding-guard.ts";
import { OperationRefused } from "../../src/extension/index.ts";
import { createLogger } from "../../src/log.ts";
import { createModelCluster, createModelRegister, type Access } from "./binding-model.ts";
import { createVirtualTime } from "./virtual-time.ts";

/** What is restored from a backup, and whether the original goes on. */
export const scenarios = ["twin seed", "restored seed", "twin garden and seed", "restored garden"] as const;

/** Everything that chance decides in one run of the model. Times are ms. */
export interface CopySchedule {
  readonly scenario: (typeof scenarios)[number];
  /** When the backup is taken, and how long after it, at the soonest, the copy starts. */
  readonly backupAt: number;
  readonly age: number;
  /** When an operator decides for the copy, after it has started; never where the original goes on. */
  readonly decides: number;
  /** When the original's processes cannot reach garden and Temporal. */
  readonly outages: readonly { readonly at: number; readonly length: number }[];
  /** When each process is killed for a moment, in turn. */
  readonly restarts: readonly number[];
  /** How long accesses take, in turn. */
  readonly delays: readonly number[];
}

/** What is otherwise than in the protocol. */
export interface CopyFault {
  /** Seeds and gardens are told by their uid alone, as all of their copies are. */
  readonly uidOnly?: boolean;
  /** Controllers begin before anything has confirmed the binding. */
  readonly unconfirmed?: boolean;
  /** A seed's worker does not ask whether its garden is confirmed. */
  readonly anyGarden?: boolean;
  /** The copy starts at once: a limit of the protocol. */
  readonly young?: boolean;
  /** The operator decides for the copy while the original runs: a limit, too. */
  readonly bothRun?: boolean;
}

/** A call to the world outside, by the controllers of one cluster. Infinity if it has not ended. */
export interface CopyAct {
  readonly by: "original" | "copy";
  readonly start: number;
  end: number;
}

const MINUTE = 60_000;
const LOOK = 30_000;

/** Whatever may happen. */
export const copySchedules: fc.Arbitrary<CopySchedule> = fc.record({
  scenario: fc.constantFrom(...scenarios),
  backupAt: fc.integer({ min: 0, max: 30 * MINUTE }),
  age: fc.integer({ min: 0, max: 60 * MINUTE }),
  decides: fc.integer({ min: MINUTE, max: 20 * MINUTE }),
  outages: fc.array(
    fc.record({ at: fc.integer({ min: 0, max: 90 * MINUTE }), length: fc.integer({ min: 0, max: 30 * MINUTE }) }),
    { maxLength: 2 },
  ),
  restarts: fc.array(fc.integer({ min: 0, max: 120 * MINUTE }), { minLength: 6, maxLength: 6 }),
  delays: fc.array(fc.integer({ min: 0, max: 2_000 }), { minLength: 11, maxLength: 11 }),
});

const log = createLogger({ name: "model", level: "silent" });
const object = {
  apiVersion: "extensions.gardener.cloud/v1alpha1",
  kind: "Infrastructure",
  metadata: { name: "infra" },
};
const operation = { object, cluster: undefined, type: "reconcile" } as never;

/** Runs the processes of gardens and seeds, with the framework's own guard, until the copy has had time to act. */
export async function runCopies(schedule: CopySchedule, fault: CopyFault = {}): Promise<CopyAct[]> {
  const time = createVirtualTime();
  const acts: CopyAct[] = [];
  const wallClock = () => Date.parse("2026-11-28T00:00:00Z") + time.now();
  const temporal = createModelRegister();
  const [delays, restarts] = [inTurn(schedule.delays), inTurn(schedule.restarts)];
  const { scenario, backupAt } = schedule;

  const access =
    (isCutOff: () => boolean): Access =>
    async (_what, act) => {
      await time.sleep(delays());
      if (isCutOff()) throw new Error("no answer");
      return act();
    };
  const isOut = () => schedule.outages.some(({ at, length }) => time.now() >= at && time.now() < at + length);

  /** A process: `look` again and again until it is refused; a supervisor starts it again. `off` ends it for good. */
  const supervise = async (start: () => () => Promise<void>, off: { readonly signal: AbortSignal }) => {
    const killedAt = restarts();
    for (let look = start(), killed = false; !off.signal.aborted;) {
      if (!killed && time.now() >= killedAt) [look, killed] = [start(), true];
      const error: unknown = await look().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (error instanceof BoundElsewhere) look = start();
      await time.sleep(error === undefined ? LOOK : 5_000, off.signal);
    }
  };

  type Cluster = ReturnType<typeof createModelCluster>;
  type Register = ReturnType<typeof createModelRegister>;
  interface Site {
    readonly garden: Cluster;
    /** In the garden's etcd. */
    readonly seeds: Register;
  }
  const bindingOf = (memory: Cluster, register: Register, reach: Access) =>
    createBinding({
      memory: memory.client(access(() => false)),
      register: register.client(reach),
      explain: ({ behind }) => `${behind} behind`,
      wallClock,
    });

  const runManager = (site: Site, off: AbortController, isCutOff: () => boolean) =>
    supervise(() => {
      const revisions = bindingOf(site.garden, temporal, access(isCutOff));
      return async () => {
        if (fault.uidOnly) await confirmBlindly(site.garden, wallClock);
        else await revisions.confirm();
      };
    }, off);

  const runSeed = (
    seed: Cluster,
    siteOf: () => Site,
    by: CopyAct["by"],
    off: AbortController,
    isCutOff: () => boolean,
  ) => {
    const worker = () => {
      const reach = access(isCutOff);
      const garden = createCopyCheck({ read: () => reach("", () => memoriesOf(siteOf().garden)), wallClock });
      const revisions = bindingOf(
        seed,
        redirected(() => siteOf().seeds),
        reach,
      );
      return async () => {
        const refusal = fault.anyGarden || fault.uidOnly ? undefined : await garden.refusal();
        if (refusal?.is === "refused") throw new BoundElsewhere(refusal.reason);
        if (refusal !== undefined) throw new Error(refusal.reason);
        if (fault.uidOnly) await confirmBlindly(seed, wallClock);
        else await revisions.confirm();
      };
    };
    const controller = () => {
      const read = async () => (await time.sleep(delays()), memoriesOf(seed));
      const known = async () =>
        (await read()).map((memory) => ({ ...memory, confirmedAt: new Date(wallClock()).toISOString() }));
      const clock = { now: time.now, sleep: time.sleep };
      const guard = createBindingGuard({ read: fault.unconfirmed ? known : read, log, clock, wallClock });
      return async () => {
        try {
          const permit = await guard.enter(operation);
          for (let calls = 0; calls < 6; calls += 1) {
            if (off.signal.aborted) return;
            permit.check();
            const act: CopyAct = { by, start: time.now(), end: Infinity };
            acts.push(act);
            await time.sleep(10_000);
            act.end = time.now();
          }
          permit.release();
        } catch (error) {
          if (!(error instanceof OperationRefused)) throw error;
        }
      };
    };
    void supervise(worker, off);
    void supervise(controller, off);
  };

  const [gone, copyGone] = [new AbortController(), new AbortController()];
  const original: Site = { garden: createModelCluster(), seeds: createModelRegister() };
  const seed = createModelCluster();
  const gardenOff = new AbortController();
  let site = original;
  void runManager(original, gardenOff, isOut);
  await time.run(backupAt === 0 ? 1 : 0);
  runSeed(seed, () => site, "original", gone, isOut);

  await time.run(backupAt);
  // A backup from before the first binding tells nothing of one.
  const isBound = () => fault.uidOnly === true || (numberOf(seed) > 0 && numberOf(original.garden) > 0);
  while (!isBound()) await time.run(time.now() + MINUTE);
  const start = time.now();
  const backup = {
    seed: seed.copy(),
    site: { garden: original.garden.copy(), seeds: createModelRegister() },
  };
  backup.site.seeds.goBack(original.seeds.keep());
  const revisionsSince = () =>
    Math.min(numberOf(seed) - numberOf(backup.seed), numberOf(original.garden) - numberOf(backup.site.garden));
  await time.run(start + schedule.age);
  // What the protocol asks of a copy: that it is older than two revisions.
  while (fault.young !== true && revisionsSince() < 2 && time.now() < start + 4 * 60 * MINUTE)
    await time.run(time.now() + MINUTE);

  /** Starts the copy as the scenario has it, and has the operator decide for it. */
  const carryOut = async (): Promise<void> => {
    const dies = scenario === "restored seed" && fault.bothRun !== true;
    if (dies) gone.abort();
    if (scenario === "restored garden") gardenOff.abort();
    const withGarden = scenario === "twin garden and seed" || scenario === "restored garden";
    const copySite = withGarden ? backup.site : original;
    if (withGarden) void runManager(backup.site, copyGone, () => false);
    if (scenario === "restored garden") site = backup.site;
    else
      runSeed(
        backup.seed,
        () => copySite,
        "copy",
        copyGone,
        () => false,
      );

    await time.run(time.now() + schedule.decides);
    if (scenario === "restored seed") await decide(original.seeds, backup.seed);
    if (scenario === "restored garden") {
      await decide(temporal, backup.site.garden);
      await time.run(time.now() + 5 * MINUTE);
      await decide(backup.site.seeds, seed);
    }
    await time.run(time.now() + 30 * MINUTE);
  };
  await carryOut();
  gone.abort();
  copyGone.abort();
  gardenOff.abort();
  return acts;
}

/** The first acts of two clusters that overlap. */
export function findCopyConflict(acts: readonly CopyAct[]): readonly CopyAct[] | undefined {
  const originals = acts.filter(({ by }) => by === "original");
  for (const copy of acts.filter(({ by }) => by === "copy")) {
    const overlapping = originals.find(({ start, end }) => start < copy.end && end > copy.start);
    if (overlapping) return [overlapping, copy];
  }
  return undefined;
}

const memoriesOf = (cluster: ReturnType<typeof createModelCluster>): BindingMemory[] =>
  Object.keys(cluster.memory()).length === 0 ? [] : [cluster.memory()];

const numberOf = (cluster: ReturnType<typeof createModelCluster>): number =>
  parseRevision(cluster.memory().revision)?.number ?? 0;

/** As a worker that knows the uid alone: whatever cluster it acts on, it is the right one. */
async function confirmBlindly(cluster: ReturnType<typeof createModelCluster>, wallClock: () => number): Promise<void> {
  const memory = cluster.client();
  const confirmedAt = new Date(wallClock()).toISOString();
  await memory.write(await memory.read(), { ...cluster.memory(), confirmedAt });
}

async function decide(
  register: ReturnType<typeof createModelRegister>,
  cluster: ReturnType<typeof createModelCluster>,
): Promise<void> {
  const client = register.client();
  const revision = parseRevision(cluster.memory().revision) ?? parseRevision(cluster.memory().next);
  if (revision !== undefined) await client.rebind(await client.read(), revision);
}

/** The register of whichever garden is served at the address now. */
function redirected(current: () => ReturnType<typeof createModelRegister>): ReturnType<typeof createModelRegister> {
  return { ...current(), client: (access) => current().client(access) };
}

function inTurn<T>(items: readonly T[]): () => T {
  let next = 0;
  return () => items[next++ % items.length] as T;
}

/** The faults that a search has to find, by what they are. The last two are limits of the protocol. */
export const copyFaults: Readonly<Record<string, CopyFault>> = {
  "tells clusters by their uid alone": { uidOnly: true },
  "lets a controller begin before the binding was confirmed": { unconfirmed: true },
  "lets a seed act for a garden that is not confirmed": { anyGarden: true },
  "restores a copy that is younger than two revisions": { young: true },
  "decides for a copy while the original runs": { bothRun: true },
};

/** Runs so many schedules, or until two clusters act at once. */
export async function searchCopies(count: number, seed?: number) {
  const seen = { schedules: 0, acts: 0, byCopies: 0, conflict: undefined as string | undefined };
  const property = fc.asyncProperty(copySchedules, async (schedule) => {
    const acts = await runCopies(schedule);
    if (findCopyConflict(acts)) return false;
    seen.schedules += 1;
    seen.acts += acts.length;
    if (acts.some(({ by }) => by === "copy")) seen.byCopies += 1;
    return true;
  });
  const { failed, counterexample } = await fc.check(property, { numRuns: count, ...(seed !== undefined && { seed }) });
  if (failed) seen.conflict = JSON.stringify(counterexample);
  return seen;
}

/** After how many schedules a fault makes two clusters act at once; undefined when so many do not show it. */
export async function findCopyFault(fault: CopyFault, count: number, seed?: number): Promise<number | undefined> {
  const property = fc.asyncProperty(
    copySchedules,
    async (schedule) => findCopyConflict(await runCopies(schedule, fault)) === undefined,
  );
  const { failed, numRuns } = await fc.check(property, {
    numRuns: count,
    endOnFailure: true,
    ...(seed !== undefined && { seed }),
  });
  return failed ? numRuns : undefined;
}
