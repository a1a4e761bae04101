import type { FlowProgress, ShootRun, StepFailure, StepProgress } from "../api/shoot/run.ts";
import type { OperationStatus } from "../activities/index.ts";
import type { Flow, StepState } from "../flow/flow.ts";
import { percent } from "../flow/percent.ts";

/** Where every step of a running operation is: the one source of its status, its progress query and its live text. */
export interface ProgressTracker {
  become(step: string, state: StepProgress["state"]): void;
  /** Keeps the error on the step until it is done; later ones replace it. `attempt` is the one that has failed with it. */
  fail(step: string, failure: StepFailure, attempt?: number): void;
  /** Whether a survey has found that the step has nothing to do. */
  isSettled(step: string): boolean;
  progress(): FlowProgress;
  status(): OperationStatus;
  /** Markdown for the Temporal UI. */
  details(): string;
  /** Grows with every change that users should see soon; unlike progress, errors don't wait for the next report. */
  readonly changes: { all: number; urgent: number };
  finish(): void;
}

/** A tracker with every step of the flow pending. `now` is the workflow's deterministic clock, in ms. */
export function createProgressTracker<Subject, Action>(
  flow: Flow<Subject, Action>,
  run: Pick<ShootRun, "operation">,
  now: () => number,
): ProgressTracker {
  const steps = new Map<string, Entry>([...flow.steps.keys()].map((name) => [name, { name, state: "pending" }]));
  const changes = { all: 0, urgent: 0 };
  /** Steps that were told of trouble while they wait. */
  const delayed = new Set<string>();
  const startedAt = time(now());
  let finishedAt: string | undefined;

  const set = (name: string, change: Partial<Entry>) => {
    const entry = steps.get(name);
    if (entry === undefined) return;
    steps.set(name, { ...entry, ...change, since: time(now()) });
    changes.all += 1;
  };
  const list = () => [...steps.values()];
  const progress = (): FlowProgress => ({
    operation: run.operation,
    title: flow.title,
    percent: percent(list().map(counted)),
    steps: list(),
    startedAt,
    ...(finishedAt === undefined ? {} : { finishedAt }),
  });

  return {
    changes,
    isSettled: (name) => steps.get(name)?.state === "settled",
    progress,
    become(name, state) {
      set(name, { state });
      if (state === "parked") changes.urgent += 1;
      if (state !== "running") delayed.delete(name);
      if (state === "done") steps.set(name, withoutError(steps.get(name)));
    },
    fail(name, error, attempt) {
      set(name, attempt === undefined ? { error } : { error, attempt });
      if (attempt === undefined) delayed.add(name);
      else delayed.delete(name);
      changes.urgent += 1;
    },
    status: () => ({ ...statusOf(progress()), ...(delayed.size > 0 && { delayed: [...delayed] }) }),
    details: () => detailsOf(progress()),
    finish() {
      finishedAt = time(now());
      changes.urgent += 1;
    },
  };
}

type Entry = StepProgress;

function withoutError(entry: Entry | undefined): Entry {
  if (entry === undefined) throw new Error("a step that is not of this flow became done");
  const { name, state, since } = entry;
  return since === undefined ? { name, state } : { name, state, since };
}

const counted = ({ state }: StepProgress): StepState =>
  state === "retrying" || state === "parked" ? "running" : state;

/** `Failed` only when nothing moves any more: upstream extensions skip failed Shoots, and branches still run until then. */
function statusOf({ title, percent, steps, finishedAt }: FlowProgress): OperationStatus {
  const moving = steps.some(({ state }) => state === "running" || state === "retrying");
  const troubled = steps.filter((step) => step.error !== undefined);
  const parked = steps.filter(({ state }) => state === "parked").map(({ name }) => name);
  const lastErrors = troubled.map(({ name, error, since }) => ({
    taskID: name,
    description: error?.message ?? "",
    codes: (error?.codes ?? []) as OperationStatus["lastErrors"][number]["codes"],
    lastUpdateTime: since ?? "",
  }));
  if (finishedAt !== undefined) {
    return { state: "Succeeded", progress: 100, description: `${title} finished`, lastErrors };
  }
  const underway = troubled.length > 0 ? "Error" : "Processing";
  return {
    state: parked.length > 0 && !moving ? "Failed" : underway,
    progress: percent,
    description: sentence(title, steps),
    lastErrors,
    ...(parked.length === 0 ? {} : { parked }),
  };
}

function sentence(title: string, steps: readonly StepProgress[]): string {
  const named = (state: StepProgress["state"]) => steps.filter((step) => step.state === state).map(({ name }) => name);
  const parts = [
    ["", named("running")],
    ["retrying ", named("retrying")],
    ["waiting for a retry of ", named("parked")],
  ] as const;
  const said = parts.filter(([, names]) => names.length > 0).map(([verb, names]) => `${verb}${names.join(", ")}`);
  return said.join("; ") || `Starting ${title}`;
}

function detailsOf({ title, percent, steps }: FlowProgress): string {
  const rows = steps.map(({ name, state, error }) => `| ${name} | ${state} | ${error?.message ?? ""} |`);
  return [`**${title}** ${percent} %`, "", "| step | state | error |", "| --- | --- | --- |", ...rows].join("\n");
}

const time = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
