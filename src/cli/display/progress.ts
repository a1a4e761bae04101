import type { StepProgress } from "../../api/shoot/run.ts";
import { renderHeadline, renderStep, renderSteps, type ShownFlow, type State } from "./progress-lines.ts";
import { fit, paint } from "./style.ts";
import type { Output } from "./terminal.ts";

/** Shows a flow while it runs. */
export interface ProgressDisplay {
  /** Shows where the flow is now; called as often as there is something new, or time passed. */
  show(progress: ShownFlow, now: number): void;
  /** Leaves the last picture on the screen and ends; later lines go below it. */
  end(): void;
}

/** On a live terminal one picture that is redrawn in place; anywhere else a line for each change of a step. */
export function createProgressDisplay(out: Output, subject: string): ProgressDisplay {
  return out.live ? createLiveDisplay(out, subject) : createPlainDisplay(out, subject);
}

function createLiveDisplay(out: Output, subject: string): ProgressDisplay {
  const clock = createStepClock();
  let drawn = 0;
  return {
    show(progress, now) {
      const elapsed = clock.observe(progress, now);
      const headline = fit(renderHeadline(progress, subject, now), out.width ?? 80);
      const lines = renderSteps(out, progress.steps, elapsed, Math.max(4, (out.height ?? 24) - 3));
      out.write(`${paint(out, "strong", headline)}\n${lines.map((line) => `${line}\n`).join("")}`, drawn);
      drawn = lines.length + 1;
    },
    end() {
      drawn = 0;
    },
  };
}

function createPlainDisplay(out: Output, subject: string): ProgressDisplay {
  const clock = createStepClock();
  const shown = new Map<string, string>();
  let started: string | undefined;
  return {
    show(progress, now) {
      const elapsed = clock.observe(progress, now);
      if (started !== progress.startedAt) {
        started = progress.startedAt;
        shown.clear();
        out.write(`${renderHeadline(progress, subject, now)}\n`);
      }
      const width = Math.max(0, ...progress.steps.map((step) => step.name.length));
      for (const step of progress.steps) {
        const signature = `${step.state} ${step.attempt ?? ""}`;
        if (shown.get(step.name) === signature || unremarkable(step, shown.has(step.name))) continue;
        shown.set(step.name, signature);
        out.write(`${renderStep(out, step, width, elapsed.get(step.name))}\n`);
      }
    },
    end: () => {},
  };
}

/** What has not begun needs no line. */
function unremarkable({ state }: StepProgress, known: boolean): boolean {
  return !known && (state === "pending" || state === "blocked");
}

/** Remembers since when each step has been at work, so that a step that is done can say how long it took. */
function createStepClock() {
  let flow: string | undefined;
  const begun = new Map<string, number>();
  const waited = new Map<string, number>(); // until when at least a step had not begun
  const took = new Map<string, number>();
  const working: readonly State[] = ["running", "retrying", "parked"];
  const forget = () => [begun, waited, took].forEach((times) => times.clear());
  return {
    observe({ startedAt, steps }: ShownFlow, now: number): ReadonlyMap<string, number> {
      if (flow !== startedAt) forget();
      flow = startedAt;
      for (const { name, state, since } of steps) {
        const at = since === undefined ? now : Date.parse(since);
        if (state === "pending") waited.set(name, now);
        if (working.includes(state)) {
          if (!begun.has(name)) begun.set(name, at);
          took.set(name, now - (begun.get(name) ?? at));
        } else if (state === "done") {
          const from = begun.get(name) ?? waited.get(name);
          if (from !== undefined) took.set(name, Math.max(0, at - from));
        }
      }
      return took;
    },
  };
}
