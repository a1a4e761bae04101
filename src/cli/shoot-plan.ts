import { SKIP_CLEANUP_ANNOTATION } from "../api/annotations.ts";
import type { Shoot } from "../api/index.ts";
import type { ShootOperation, ShootRun } from "../api/shoot-run.ts";
import type { ShootView } from "../activities/index.ts";
import type { Flow } from "../flow/flow.ts";
import { planFlow, type PlannedStep } from "../flow/plan.ts";
import { decide, operationType } from "../workflows/decide.ts";
import type { FlowSubject, Hands } from "../workflows/steps.ts";
import { CliError } from "./exit.ts";
import { formatDuration } from "./time.ts";

/** What an operation would do to a Shoot, and whether it is due. */
export interface ShootPlan {
  readonly shoot: string;
  readonly operation: ShootOperation;
  readonly flow: string;
  /** One sentence: why it is due, or when it will be. */
  readonly due: string;
  /** What the plan takes for granted, because only the seed knows it. */
  readonly assumes: string | undefined;
  readonly steps: readonly PlannedStep[];
}

/** What is asked: about which view, at which time (ms), by whose wish. */
export interface PlanRequest {
  readonly view: ShootView;
  readonly tables: FlowTables;
  readonly operation: "reconcile" | "delete" | undefined;
  readonly now: number;
}

/** The flow tables that a plan is made from; their steps are never run. */
export interface FlowTables {
  readonly reconcile: Flow<FlowSubject>;
  readonly delete: Flow<FlowSubject>;
}

/** Plans what the Shoot's workflow would do next, or the operation that is named. Throws what stands against any operation. */
export function planShoot(shoot: Shoot, { view, tables, operation: asked, now }: PlanRequest): ShootPlan {
  const subject = `${shoot.metadata.namespace}/${shoot.metadata.name}`;
  if (view.run === undefined)
    throw new CliError(
      "failed",
      `nothing can be done with Shoot ${subject}: ${view.problem?.message ?? "its facts are not known"}`,
    );
  const deletes = (asked ?? (view.deleting ? "delete" : "reconcile")) === "delete";
  const operation: ShootOperation = deletes ? "Delete" : operationType(view);
  const run: ShootRun = {
    ...view.run,
    operation,
    ...(deletes ? assumedControlPlane(shoot, view.run) : { namespaceUsable: true }),
  };
  const flow = deletes ? tables.delete : tables.reconcile;
  return {
    shoot: subject,
    operation,
    flow: flow.title,
    due:
      deletes === view.deleting ? explainDue(view, now) : "not due: this operation is not what the Shoot asks for now",
    assumes: deletes ? "the seed is not asked: the control plane is taken to be as the Shoot's status says" : undefined,
    steps: planFlow(flow, { run, hands: idleHands }),
  };
}

/** A plan looks at conditions only; whatever would act says so instead. */
const idleHands: Hands = {
  attempt: () => Promise.reject(new Error("a plan runs nothing")),
  acting: () => {
    throw new Error("a plan runs nothing");
  },
  wait: () => Promise.reject(new Error("a plan waits for nothing")),
};

/** What a deletion finds in the seed, as far as the Shoot's own status tells. */
function assumedControlPlane(shoot: Shoot, run: Pick<ShootRun, "workerless">) {
  const begun = shoot.status?.uid !== undefined;
  const cleanup = begun && shoot.metadata.annotations?.[SKIP_CLEANUP_ANNOTATION] !== "true";
  return { namespaceUsable: begun, cleanup, controlPlaneNeeded: begun && !run.workerless };
}

function explainDue(view: ShootView, now: number): string {
  const decision = decide(view, now, 0);
  if (decision.do === "release") return "nothing to do: the Shoot is let go at once";
  if (decision.do === "wait") return `not due for ${formatDuration(decision.for)}${reasonToWait(view)}`;
  return `due now: ${reasonToAct(view)}`;
}

function reasonToWait(view: ShootView): string {
  if (view.ignored) return ": the Shoot asks to be ignored";
  if (view.lastOperation?.state === "Failed") return ": the last operation waits for a retry";
  return "";
}

function reasonToAct(view: ShootView): string {
  if (view.deleting) return "the Shoot is being deleted";
  if (view.lastOperation === undefined) return "the Shoot is new";
  if (view.generation !== view.observedGeneration)
    return `its spec has changed (generation ${view.generation}, seen ${view.observedGeneration})`;
  if (view.request !== undefined) return `it asks for ${view.request}`;
  return view.lastOperation.state === "Succeeded"
    ? "the last one is too long ago"
    : "the last one has not come to its end";
}
