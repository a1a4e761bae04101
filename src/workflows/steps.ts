import { sleep } from "@temporalio/workflow";
import type { ExtensionKind, GardenActivities, Purpose, SeedActivities, WaitTarget } from "../activities/index.ts";
import type { ComponentName } from "../components/index.ts";
import type { ShootRun } from "../api/shoot/run.ts";
import type { Facts } from "./conditions.ts";

/** The vocabulary of the flow tables. A step is attempted until it is done; what it waits for is part of it. */

/** What a step works with: the facts, and the hands of the flow that runs it. */
export interface FlowSubject extends Facts {
  readonly runner: StepRunner;
}

/** What a flow lends its steps. */
export interface StepRunner {
  /** Runs the work until it is done: retries what is worth retrying, parks what is not. */
  attempt(step: string, work: () => Promise<void>): Promise<void>;
  /** The activities of the run's seed for the acting half of a step: finished even when the flow is stopped. */
  acting(run: ShootRun, step: string): SeedActivities;
  /** The same for the garden. */
  garden(step: string): GardenActivities;
  /** Waits for everything named in the run's seed; given up at once when the flow is stopped. */
  wait(run: ShootRun, step: string, targets: readonly WaitTarget[]): Promise<void>;
}

/** How a step is carried out. */
export type Run = (subject: FlowSubject, step: string) => Promise<void>;

/** Deploys a control-plane component and waits until it has rolled out. */
export const deploy = (component: ComponentName): Run =>
  actThenWait((seedActivities, run, step) => seedActivities.deployComponent(run, component, step));

/** Destroys a control-plane component and waits until it is gone. */
export const destroy = (component: ComponentName): Run =>
  actThenWait((seedActivities, run, step) => seedActivities.destroyComponent(run, component, step));

/** Applies the Shoot's objects of an extension kind and waits until their controllers say they are ready. */
export const apply = (kind: ExtensionKind, purpose?: Purpose): Run =>
  actThenWait((seedActivities, run, step) => seedActivities.applyExtension(run, kind, step, purpose));

/** Removes the Shoot's objects of an extension kind and waits until they are gone. */
export const remove = (kind: ExtensionKind, purpose?: Purpose): Run =>
  actThenWait((seedActivities, run, step) => seedActivities.removeExtension(run, kind, step, purpose));

/** Has the controllers of a kind stop acting in this seed and leave everything as it is. Objects and their state stay. */
export const migrateAll = (kind: ExtensionKind, purpose?: Purpose): Run =>
  actThenWait((seedActivities, run, step) => seedActivities.migrateExtension(run, kind, step, purpose));

/** Has the controllers of a kind take over what the kept state describes. */
export const restoreAll = (kind: ExtensionKind, purpose?: Purpose): Run =>
  actThenWait((seedActivities, run, step) => seedActivities.restoreExtension(run, kind, step, purpose));

/** Stops the pods of a component and waits until every one of them is gone; volumes stay. */
export const stop = (component: ComponentName): Run =>
  actThenWait((seedActivities, run, step) => seedActivities.stopWorkload(run, component, step));

/** Takes a snapshot of the Shoot's etcd, verifies it and writes down that there is one. */
export const snapshot: Run = async (subject, step) => {
  const { run, runner } = subject;
  await runner.attempt(step, async () => {
    await runner.wait(run, step, await runner.acting(run, step).takeSnapshot(run, step));
    await runner.acting(run, `${step}/verify`).keepSnapshot(run);
  });
};

/** Removes the Shoot's namespace from the seed and waits until it is gone. */
export const removeNamespace: Run = actThenWait((seedActivities, run, step) =>
  seedActivities.removeNamespace(run, step),
);

/** Waits until every worker pool has its nodes, and they are ready. */
export const nodesReady: Run = ({ run, runner }, step) =>
  runner.attempt(step, () => runner.wait(run, step, [nodes(run, step)]));

/** Until every look at the old leadership record has run out: two leases, from when all servers answered the new one. */
export const leasesOver: Run = ({ run }, step) => sleep(2 * run.leaseSeconds * 1000, { summary: step });

/** Until resolvers have forgotten the API server's address as they knew it before. */
export const addressForgotten: Run = ({ run }, step) => sleep(run.dnsTtl * 1000, { summary: step });

/** The same step in the seed that the Shoot leaves. */
export const onSource =
  (step: Run): Run =>
  (subject, name) =>
    step(inSeed(subject, "source"), name);

/** The same step in the seed that the Shoot goes to. */
export const onDestination =
  (step: Run): Run =>
  (subject, name) =>
    step(inSeed(subject, "destination"), name);

/** One activity of the garden. */
export const inGarden =
  (activity: GardenChore): Run =>
  ({ run, runner }, step) =>
    runner.attempt(step, () => runner.garden(step)[activity](run));

/** One activity that says who is to be waited for. */
export const act = (activity: Act): Run =>
  actThenWait((seedActivities, run, step) => seedActivities[activity](run, step));

/** One activity that needs no more than the facts. */
export const call = (activity: Chore): Run =>
  actThenWait(async (seedActivities, run) => {
    await seedActivities[activity](run);
    return [];
  });

/** A step, then an activity that makes its outcome known. (Not called `then`: a module that exports that is a promise to `import()`.) */
export const thenCall =
  (first: Run, activity: Chore): Run =>
  async (subject, step) => {
    await first(subject, step);
    await call(activity)(subject, step);
  };

type Chore = {
  [Name in keyof SeedActivities]: SeedActivities[Name] extends (run: ShootRun) => Promise<void> ? Name : never;
}[keyof SeedActivities];

type GardenChore = {
  [Name in keyof GardenActivities]: GardenActivities[Name] extends (run: ShootRun) => Promise<void> ? Name : never;
}[keyof GardenActivities] &
  ("ensureLeadership" | "checkMigration" | "flip" | "leaveSeed" | "removeLeadership");

type Act = "warmUp" | "lowerTtl" | "restoreVolume" | "stopEverything";

function inSeed(subject: FlowSubject, end: "source" | "destination"): FlowSubject {
  const { run } = subject;
  return run.migration ? { ...subject, run: { ...run, seedName: run.migration[end] } } : subject;
}

function actThenWait(
  work: (seedActivities: SeedActivities, run: ShootRun, step: string) => Promise<readonly WaitTarget[]>,
): Run {
  return ({ run, runner }, step) =>
    runner.attempt(step, async () => {
      await runner.wait(run, step, await work(runner.acting(run, step), run, step));
    });
}

/** The contract gives Worker ten minutes; its nodes get as long again to join. */
function nodes({ technicalID, name }: ShootRun, step: string): WaitTarget {
  return {
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Worker",
    name,
    namespace: technicalID,
    until: "nodesReady",
    activityId: `${step}/wait`,
    severeAfter: 600_000,
    deadline: 600_000,
  };
}
