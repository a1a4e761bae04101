import type { FlowProgress, StepProgress } from "../../api/shoot/run.ts";
import { fit, paint, visibleLength } from "./style.ts";
import type { Tone } from "./tones.ts";
import type { Output } from "./terminal.ts";
import { formatDuration } from "./time.ts";

/** A flow as it is shown; `operation` begins its headline. */
export interface ShownFlow extends Pick<FlowProgress, "steps" | "startedAt" | "finishedAt"> {
  readonly operation: string;
}

/** Where a step is. */
export type State = StepProgress["state"];

/** How long steps took or have taken, in ms, as far as it is known. */
export type Elapsed = ReadonlyMap<string, number>;

const looks: Readonly<Record<State, readonly [mark: string, tone: Tone | undefined]>> = {
  pending: ["·", "quiet"],
  running: ["▸", "strong"],
  retrying: ["↻", "attention"],
  parked: ["‖", "bad"],
  done: ["✔", "good"],
  settled: ["=", "quiet"],
  skipped: ["–", "quiet"],
  failed: ["✖", "bad"],
  blocked: ["·", "quiet"],
  stopped: ["■", "attention"],
};

/** The headline: what runs, how far it is and for how long. */
export function renderHeadline(progress: ShownFlow, subject: string, now: number): string {
  const counted = progress.steps.filter((step) => step.state !== "skipped");
  const done = counted.filter(({ state }) => state === "done" || state === "settled").length;
  const end = progress.finishedAt === undefined ? now : Date.parse(progress.finishedAt);
  const elapsed = formatDuration(end - Date.parse(progress.startedAt));
  return `${progress.operation} ${subject}: ${done} of ${counted.length} steps done, ${elapsed}`;
}

/** One line of one step: mark, name, state, time, and the error while there is one. */
export function renderStep(out: Output, step: StepProgress, nameWidth: number, elapsed: number | undefined): string {
  const [mark, tone] = looks[step.state];
  const time = elapsed === undefined ? "" : formatDuration(elapsed);
  const head = `${mark} ${step.name.padEnd(nameWidth)}  ${step.state.padEnd(8)}  ${time.padEnd(6)}`;
  const painted = tone ? paint(out, tone, head) : head;
  const line = `${painted}  ${renderError(step)}`.trimEnd();
  return out.width === undefined ? line : fit(line, out.width);
}

/** Every step, as many lines as fit: done and pending ones give way to a count of them first. */
export function renderSteps(out: Output, steps: readonly StepProgress[], elapsed: Elapsed, room: number): string[] {
  const width = Math.max(0, ...steps.map((step) => visibleLength(step.name)));
  const line = (step: StepProgress) => renderStep(out, step, width, elapsed.get(step.name));
  if (steps.length <= room) return steps.map(line);
  const waiting = steps.filter((step) => ["pending", "blocked"].includes(step.state));
  const settled = steps.filter((step) => ["done", "settled", "skipped", "stopped"].includes(step.state));
  const active = steps.filter((step) => !waiting.includes(step) && !settled.includes(step));
  const left = Math.max(0, room - active.length - 2);
  const latest = left === 0 ? [] : settled.slice(-left);
  const next = waiting.slice(0, Math.max(0, left - latest.length));
  return [
    ...more(out, settled.length - latest.length, "done or skipped"),
    ...latest.map(line),
    ...active.slice(0, Math.max(1, room - 2)).map(line),
    ...next.map(line),
    ...more(out, waiting.length - next.length, "to come"),
  ];
}

/** The error of a step in words, with its attempt and codes; empty when it has none. */
export function renderError({ error, attempt }: StepProgress): string {
  if (!error) return "";
  const codes = error.codes.length > 0 ? ` (${error.codes.join(", ")})` : "";
  return `${attempt === undefined ? "" : `attempt ${attempt}: `}${error.message}${codes}`;
}

function more(out: Output, count: number, what: string): string[] {
  return count > 0 ? [paint(out, "quiet", `  ${count} ${what}`)] : [];
}
