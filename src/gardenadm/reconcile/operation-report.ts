import { setTimeout as delay } from "node:timers/promises";
import { lastOperation } from "../../activities/shoot/operation-beginning.ts";
import type { LastOperation } from "../../api/index.ts";
import { projectOf, technicalIDOf } from "../../api/names.ts";
import { readVersion } from "../../package.ts";
import type { StepChange } from "../../in-process/run.ts";
import type { KubeClient, MergePatch } from "../../kube/index.ts";
import { createProgressTracker, type ProgressTracker } from "../../workflows/progress-tracker.ts";
import { reconcileSelfHosted } from "../../workflows/reconcile-self-hosted.ts";
import { changeShootStatus, readShootStatus, type ShootStatus } from "../cluster/shoot-status.ts";
import type { Configuration } from "../configuration/configuration.ts";

/** What is reported of, and to whom. */
export interface ReportDeps {
  readonly client: KubeClient;
  readonly configuration: Pick<Configuration, "shoot" | "project">;
  readonly uid: string;
  /** The control plane has come out of a backup, or out of a member that has survived. */
  readonly isRestored: boolean;
  /** Something was written into the cluster: a run that finds all as it should be says nothing. */
  hasWritten(): boolean;
  /** The control plane is this command's to change: where another has taken over, the status is that one's to write. */
  holdsTurn(): boolean;
  /** In ms; those of a command unless told otherwise. */
  readonly timing?: ReportTiming;
}

/** In ms: how often is looked whether there is something to tell, when progress is told first and at most, and what is told again if it cannot be. */
export interface ReportTiming {
  readonly look: number;
  readonly first: number;
  readonly most: number;
}

const TIMING: ReportTiming = { look: 1_000, first: 10_000, most: 40_000 };

/** How often the last word is tried. */
const LAST_ATTEMPTS = 10;

/** Says in the Shoot's status how its operation gets on. Nothing that cannot be told is worth an operation. */
export interface OperationReport {
  change(change: StepChange): void;
  /** Says how it has ended, and returns when that is written, or cannot be. */
  end(outcome: "succeeded" | "stopped"): Promise<void>;
}

/** Reports on a run of `reconcileSelfHosted`, which begins now, in the Shoot of `Cluster` kube-system as soon as there is that. */
export async function reportOperation(deps: ReportDeps): Promise<OperationReport> {
  const { client, configuration, uid, timing = TIMING } = deps;
  const before = await readShootStatus(client).catch(() => UNKNOWN);
  const operation = operationAfter(before?.lastOperation, deps.isRestored);
  const tracker = createProgressTracker(reconcileSelfHosted, { operation }, () => Date.now());
  const known = await knownOf(configuration, uid);
  const isOpen = before?.lastOperation?.state !== "Succeeded" || operation === "Restore";
  const isWorthIt = () => isOpen || tracker.changes.urgent > 0 || deps.hasWritten();
  const tell = async () => {
    if (!deps.holdsTurn()) throw new Error("another command may have taken the turn over");
    return await changeShootStatus(client, "gardenadm", () => ({ ...known, ...progressOf(operation, tracker) }));
  };
  const telling = keepTelling({ tracker, timing, isWorthIt, tell });
  return {
    change: (change) => follow(tracker, change),
    async end(outcome) {
      const isQuiet = !isWorthIt();
      if (outcome === "succeeded") tracker.finish();
      await telling.end();
      if (isQuiet) return;
      for (let attempt = 1; attempt <= LAST_ATTEMPTS; attempt += 1) {
        if ((await tell().catch(() => "away")) !== "away") return;
        await delay(timing.look);
      }
    },
  };
}

/** Where it cannot be read now, the cluster has been created: a Create would have it count as one that is being built. */
const UNKNOWN = { lastOperation: { type: "Reconcile", state: "Succeeded" } } as ShootStatus;

/** As in a garden: what has not been created yet is; a Restore ends as that. */
function operationAfter(before: LastOperation | undefined, isRestored: boolean): "Create" | "Reconcile" | "Restore" {
  if (isRestored) return "Restore";
  const isNew = before === undefined || (before.type === "Create" && before.state !== "Succeeded");
  return isNew ? "Create" : "Reconcile";
}

/** What of a Shoot's status is known before anything is done, as upstream's gardenadm has it. */
async function knownOf({ shoot, project }: ReportDeps["configuration"], uid: string): Promise<MergePatch> {
  const { name, namespace = "" } = shoot.metadata;
  return {
    uid,
    technicalID: shoot.status?.technicalID ?? technicalIDOf(project.metadata.name || projectOf(namespace), name),
    gardener: { id: "gardenadm", name: "gardenadm", version: await readVersion() },
    hibernated: false,
  };
}

/**
 * `Failed` would have upstream's extensions skip the Shoot until the next run: what agents ask of them meanwhile, such as that
 * addresses lead to healthy nodes, would stay undone. The command that parks is given again, as what is in `Error` is tried again.
 */
function progressOf(operation: LastOperation["type"], tracker: ProgressTracker): MergePatch {
  const { lastErrors, ...status } = tracker.status();
  const state = status.state === "Failed" ? "Error" : status.state;
  return {
    lastOperation: lastOperation(operation, { ...status, state }),
    lastErrors: lastErrors.length > 0 ? lastErrors : null,
  };
}

/** What a step waits for is no change of it. */
function follow(tracker: ProgressTracker, { step, state, message, codes = [], attempt }: StepChange): void {
  if (state === "running" && message !== undefined) return;
  tracker.become(step, state);
  if (message !== undefined) tracker.fail(step, { message, codes: [...codes] }, attempt);
}

interface Telling {
  readonly tracker: ProgressTracker;
  readonly timing: ReportTiming;
  isWorthIt(): boolean;
  /** Whether it could be told. */
  tell(): Promise<boolean>;
}

/** Tells errors soon, and progress less and less often, until it is ended; what could not be told, again. */
function keepTelling({ tracker, timing, isWorthIt, tell }: Telling): { end(): Promise<void> } {
  const ending = new AbortController();
  let told = { all: 0, urgent: 0 };
  let [at, period] = [-Infinity, timing.first];
  const isDue = () =>
    isWorthIt() &&
    (tracker.changes.urgent !== told.urgent ||
      (tracker.changes.all !== told.all && performance.now() - at >= period) ||
      at === -Infinity);
  const tellOnce = async () => {
    const telling = { ...tracker.changes };
    if (!(await tell().catch(() => false))) return;
    if (at !== -Infinity) period = Math.min(2 * period, timing.most);
    [told, at] = [telling, performance.now()];
  };
  const over = (async () => {
    while (!ending.signal.aborted) {
      if (isDue()) await tellOnce();
      await delay(timing.look, undefined, { signal: ending.signal }).catch(() => {});
    }
  })();
  return {
    async end() {
      ending.abort();
      await over;
    },
  };
}
