import type { ShootRun } from "../../src/api/shoot/run.ts";
import { defaultLifecycle, extensionPhases, type ExtensionPhase } from "../../src/api/extensions/lifecycle.ts";
import { planFlow } from "../../src/flow/plan.ts";
import type { ShootFlow } from "../../src/workflows/actions.ts";
import { shootRun } from "./shoot-run.ts";

/** What control planes have besides, where something asks for it. */
const extras: Partial<ShootRun> = { managesResources: true, machineControllerManager: true, tunnel: true };

/** The steps that a flow does and skips for a Shoot with all of these, unless the change says otherwise. */
export function plan(flow: ShootFlow, change: Partial<ShootRun> = {}) {
  const steps = planFlow(flow, shootRun({ ...extras, ...change }));
  return {
    done: steps.filter(({ skipped }) => !skipped).map(({ step }) => step),
    skipped: steps.filter(({ skipped }) => skipped).map(({ step }) => step),
  };
}

/** What of a flow says which step comes after which. */
interface Steps {
  readonly steps: ReadonlyMap<string, { readonly after?: readonly string[] }>;
}

/** Every step that has to be over before this one begins. */
export function before(flow: Steps, step: string, found = new Set<string>()): Set<string> {
  for (const one of flow.steps.get(step)?.after ?? []) {
    if (found.has(one)) continue;
    found.add(one);
    before(flow, one, found);
  }
  return found;
}

/** When an Extension acts that is reconciled in this phase. */
export const lifecycle = (reconcile: ExtensionPhase) => ({ ...defaultLifecycle, reconcile });

/** A Shoot that has something for each row of extensions. */
export const extended: Partial<ShootRun> = {
  hasReferences: true,
  hasContainerRuntimes: true,
  etcdDamaged: true,
  extensions: extensionPhases.map((phase) => ({ type: phase, ...lifecycle(phase) })),
};

/** The rows that replace an etcd's data where they are damaged. A takeover searches for snapshots by two of the same, for its own reason. */
export const repairing = [
  "etcdDamage",
  "listSnapshots",
  "newestSnapshot",
  "damagedApiServer",
  "damagedEtcd",
  "etcdData",
];
