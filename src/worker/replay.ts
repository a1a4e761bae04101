import { historyFromJSON } from "@temporalio/common/lib/proto-utils.js";
import { DefaultLogger, makeTelemetryFilterString, Runtime, Worker } from "@temporalio/worker";
import { stepOfActivity } from "../api/activity-ids.ts";
import { askedFor, workflowTypeOf, type Asked, type History } from "../client/history.ts";
import { buildWorkflows, type WorkflowBuild } from "./build.ts";

/** How a history and today's code went together. */
export interface Replay {
  readonly type: string;
  readonly events: number;
  /** Absent when they agree to the end. */
  readonly divergence?: Divergence;
}

/** Where a history and today's code part ways. */
export interface Divergence {
  /** The step, as far as one can be named. */
  readonly step: string | undefined;
  /** The workflow task after which the code wants something else than what the history tells. */
  readonly task: number;
  /** What the history says was asked for then. */
  readonly history: readonly string[];
  /** What today's code asks for instead, where it is one activity against another. */
  readonly code: string | undefined;
  /** The replayer's own words. */
  readonly reason: string;
}

/** Replays histories against one version of the workflows; needs no server, and runs no activity. */
export interface Replayer {
  replay(history: History): Promise<Replay>;
}

type Bundle = WorkflowBuild["bundle"];

/** Replays against today's workflows, or those of a bundle. */
export async function createReplayer(bundle?: Bundle): Promise<Replayer> {
  const workflowBundle = bundle ?? (await buildWorkflows()).bundle;
  return {
    async replay(history) {
      const type = workflowTypeOf(history);
      const events = history.events.length;
      const reason = await refusal(workflowBundle, history);
      if (reason === undefined) return { type, events };
      return { type, events, divergence: await findDivergence(workflowBundle, history, reason) };
    },
  };
}

/** Keeps what the SDK says of a failed replay off the terminal; once per process, before anything else of it is used. */
export function silenceRuntime(): void {
  Runtime.install({
    logger: new DefaultLogger("ERROR", () => undefined),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: "ERROR" }), forward: {} } },
  });
}

/** Why the replay failed; undefined when it did not. */
async function refusal(workflowBundle: Bundle, history: History): Promise<string | undefined> {
  try {
    await Worker.runReplayHistory({ workflowBundle }, historyFromJSON(history), "replay");
    return undefined;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return /message: "((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text;
  }
}

/** The first workflow task of which what followed does not replay: found by halving, as a longer history does not heal it. */
async function findDivergence(workflowBundle: Bundle, history: History, whole: string): Promise<Divergence> {
  const asked = askedFor(history);
  const tasks = [...new Set(asked.map(({ task }) => task))].sort((a, b) => a - b);
  let [good, bad, reason] = [-1, tasks.length - 1, whole];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    const found = await refusal(workflowBundle, upTo(history, tasks[middle] ?? 0));
    if (found === undefined) good = middle;
    else [bad, reason] = [middle, found];
  }
  return describe(asked, tasks[bad] ?? 0, reason);
}

/** The history up to the next workflow task: what an open workflow's looks like. */
function upTo({ events }: History, task: number): History {
  const next = events.findIndex((one) => Number(one.eventId) > task && /WORKFLOW_TASK_SCHEDULED$/.test(one.eventType));
  return { events: next < 0 ? events : events.slice(0, next) };
}

function describe(all: readonly Asked[], task: number, reason: string): Divergence {
  const asked = all.filter((one) => one.task === task);
  const [, told, wanted] = /'([^']+)' does not match .*'([^']+)'/.exec(reason) ?? [];
  const culprit = told ?? asked.find(({ event }) => reason.includes(`id: ${event},`))?.what;
  return {
    step:
      stepOfActivity(wanted ?? "") ??
      stepOfActivity(culprit ?? "") ??
      asked.find(({ step }) => step !== undefined)?.step,
    task,
    history: culprit === undefined ? asked.map(({ what }) => what) : [culprit],
    code: wanted,
    reason,
  };
}
