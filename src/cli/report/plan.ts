import type { Shoot } from "../../api/index.ts";
import type { Migration, ShootOperation, ShootRun } from "../../api/shoot/run.ts";
import type { ShootView } from "../../activities/index.ts";
import { planFlow } from "../../flow/plan.ts";
import { flowFor, type FlowKind } from "../../workflows/contract.ts";
import { decide, operationType } from "../../workflows/decide.ts";
import type { ShootFlow } from "../../workflows/actions.ts";
import { CliError } from "../exit.ts";
import type { JudgedStep } from "./changes.ts";
import { formatDuration } from "../display/time.ts";

/** What an operation would do to a Shoot, and whether it is due. */
export interface ShootPlan {
  readonly shoot: string;
  readonly operation: ShootOperation;
  readonly flow: string;
  /** One sentence: why it is due, or when it will be. */
  readonly due: string;
  /** What the plan takes for granted, because only the seed knows it. */
  readonly assumes: string | undefined;
  /** Why it is not known which steps would change something, where it is not. */
  readonly unjudged?: string;
  readonly steps: readonly JudgedStep[];
}

/** What is asked: about which view, at which time (ms), by whose wish. */
export interface PlanRequest {
  readonly view: ShootView;
  readonly tables: FlowTables;
  /** Undefined: the one that the Shoot asks for. */
  readonly operation: FlowKind | undefined;
  /** The Seed that a migration would go to; undefined: the one that the Shoot is on its way to. */
  readonly to?: string | undefined;
  readonly now: number;
}

/** The flow tables that a plan is made from; their steps are never run. */
export type FlowTables = Readonly<Record<FlowKind, ShootFlow>>;

/** Plans what the Shoot's workflow would do next, or the operation that is named. Throws what stands against any operation. */
export function planShoot(shoot: Shoot, request: PlanRequest): ShootPlan {
  const { view, tables, operation: asked, now } = request;
  const subject = `${shoot.metadata.namespace}/${shoot.metadata.name}`;
  const facts = factsOf(view, subject);
  const next = view.deleting && view.moving === undefined ? "Delete" : operationType(view);
  const due = flowFor({ ...facts, operation: next });
  const kind = asked ?? due;
  const operation = kind === due ? next : operations[kind];
  const run: ShootRun = {
    ...facts,
    operation,
    ...(operation === "Delete" ? assumedControlPlane(shoot, facts) : { namespaceUsable: true }),
    ...(kind === "migrate" || kind === "restore" ? migrationOf(facts, request.to, subject) : {}),
  };
  return {
    shoot: subject,
    operation,
    flow: tables[kind].title,
    due: kind === due ? explainDue(view, now) : "not due: this operation is not what the Shoot asks for now",
    assumes:
      operation === "Delete"
        ? "the seed is not asked: the control plane is taken to be as the Shoot's status says"
        : undefined,
    steps: planFlow(tables[kind], run),
  };
}

/** The facts that every operation needs; throws why they cannot be had. */
export function factsOf(view: ShootView, subject: string): NonNullable<ShootView["run"]> {
  if (view.run !== undefined) return view.run;
  const reason = view.problem?.message ?? "its facts are not known";
  throw new CliError("failed", `nothing can be done with Shoot ${subject}: ${reason}`);
}

const operations = {
  reconcile: "Reconcile",
  delete: "Delete",
  "force-delete": "Delete",
  migrate: "Migrate",
  restore: "Restore",
} as const satisfies Record<FlowKind, ShootOperation>;

/** The move that is under way, or the one to the Seed that is named. */
function migrationOf(facts: NonNullable<ShootView["run"]>, to: string | undefined, subject: string) {
  if (to === undefined && facts.migration !== undefined) return { migration: facts.migration };
  if (to === undefined)
    throw new CliError("usage", `Shoot ${subject} is not on its way anywhere: name a Seed with --to`);
  return { migration: { source: facts.seedName, destination: to, takeover: false } };
}

/** What a deletion finds in the seed, as far as the Shoot's own status tells. */
function assumedControlPlane(shoot: Shoot, run: Pick<ShootRun, "workerless">) {
  const begun = shoot.status?.uid !== undefined;
  return { namespaceUsable: begun, cleanable: begun, controlPlaneNeeded: begun && !run.workerless };
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
  if (view.moving !== undefined) return describeMovement(view.run?.migration);
  if (view.deleting) return "the Shoot is being deleted";
  if (view.lastOperation === undefined) return "the Shoot is new";
  if (view.generation !== view.observedGeneration)
    return `its spec has changed (generation ${view.generation}, seen ${view.observedGeneration})`;
  if (view.request !== undefined) return `it asks for ${view.request}`;
  return view.lastOperation.state === "Succeeded"
    ? "the last one is too long ago"
    : "the last one has not come to its end";
}

function describeMovement(migration: Migration | undefined): string {
  if (migration === undefined) return "the Shoot is on its way to another Seed";
  const { source, destination, takeover, returning } = migration;
  if (returning) return `the Shoot was called back to Seed ${source}`;
  return `the Shoot moves from Seed ${source} to Seed ${destination}${takeover ? ", which takes over" : ""}`;
}
