import type { ExtensionKind, Purpose, SeedActivities, WaitTarget } from "../activities/index.ts";
import type { ComponentName } from "../components/index.ts";
import type { ShootRun } from "../api/shoot-run.ts";
import type { Facts } from "./conditions.ts";

/** The vocabulary of the flow tables. A step is attempted until it is done; what it waits for is part of it. */

/** What a step works with: the facts, and the hands of the flow that runs it. */
export interface FlowSubject extends Facts {
  readonly hands: Hands;
}

/** What a flow lends its steps. */
export interface Hands {
  /** Runs the work until it is done: retries what is worth retrying, parks what is not. */
  attempt(step: string, work: () => Promise<void>): Promise<void>;
  /** The seed's activities for the acting half of a step: finished even when the flow is stopped. */
  acting(step: string): SeedActivities;
  /** Waits for everything named; given up at once when the flow is stopped. */
  wait(step: string, targets: readonly WaitTarget[]): Promise<void>;
}

type Run = (subject: FlowSubject, step: string) => Promise<void>;

/** Deploys a control-plane component and waits until it has rolled out. */
export const deploy = (component: ComponentName): Run =>
  actThenWait((seed, run, step) => seed.deployComponent(run, component, step));

/** Destroys a control-plane component and waits until it is gone. */
export const destroy = (component: ComponentName): Run =>
  actThenWait((seed, run, step) => seed.destroyComponent(run, component, step));

/** Applies the Shoot's objects of an extension kind and waits until their controllers say they are ready. */
export const apply = (kind: ExtensionKind, purpose?: Purpose): Run =>
  actThenWait((seed, run, step) => seed.applyExtension(run, kind, step, purpose));

/** Removes the Shoot's objects of an extension kind and waits until they are gone. */
export const remove = (kind: ExtensionKind, purpose?: Purpose): Run =>
  actThenWait((seed, run, step) => seed.removeExtension(run, kind, step, purpose));

/** Removes the Shoot's namespace from the seed and waits until it is gone. */
export const removeNamespace: Run = actThenWait((seed, run, step) => seed.removeNamespace(run, step));

/** Waits until every worker pool has its nodes, and they are ready. */
export const nodesReady: Run = ({ run, hands }, step) =>
  hands.attempt(step, () => hands.wait(step, [nodes(run, step)]));

/** One activity that needs no more than the facts. */
export const call = (activity: Chore): Run =>
  actThenWait(async (seed, run) => {
    await seed[activity](run);
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

function actThenWait(act: (seed: SeedActivities, run: ShootRun, step: string) => Promise<readonly WaitTarget[]>): Run {
  return ({ run, hands }, step) =>
    hands.attempt(step, async () => {
      await hands.wait(step, await act(hands.acting(step), run, step));
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
