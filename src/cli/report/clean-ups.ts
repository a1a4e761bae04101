import { commandLines } from "../../api/command-lines.ts";
import type { FlowProgress } from "../../api/shoot/run.ts";
import { findBlocking, type Blocking } from "./blocking.ts";
import { cleanUp } from "../../workflows/clean-up.ts";
import { paint } from "../display/style.ts";
import type { Output } from "../display/terminal.ts";
import { renderWaitingStep } from "./waiting-step.ts";

/** How far a seed that does not lead any more is cleaned up of a Shoot. */
export interface CleanUpReport {
  readonly seed: string;
  /** The id of the workflow that does it. */
  readonly workflow: string;
  /** The step that it waits for; undefined while no clean-up is running. */
  readonly blocking: (Blocking & { readonly owner: string }) | undefined;
  /** Why none is running, where none is. */
  readonly idle: string | undefined;
}

/** What is known of one clean-up: its progress, if it has begun, and whether its Shoot is on its way, when none begins. */
export function reportCleanUp(
  { seed, workflow }: Pick<CleanUpReport, "seed" | "workflow">,
  progress: FlowProgress | undefined,
  moving: boolean,
): CleanUpReport {
  const found = progress && findBlocking(progress);
  if (found === undefined) {
    const next = moving ? "begins once the Shoot has arrived" : "begins when the Shoot is looked at next";
    const idle = progress?.finishedAt === undefined ? next : "has ended; its name is about to leave status.seeds";
    return { seed, workflow, blocking: undefined, idle };
  }
  const inGarden = cleanUp.steps.get(found.step)?.do.where === "garden";
  const owner = inGarden ? "Perennial's worker for the garden" : `Perennial's worker for seed ${seed}`;
  return { seed, workflow, blocking: { ...found, owner }, idle: undefined };
}

/** The clean-ups as text, each behind an empty line: where each stands, for how long, and what can be done. */
export function renderCleanUps(out: Output, subject: string, reports: readonly CleanUpReport[], now: number): string[] {
  return reports.flatMap((report) => ["", ...renderCleanUp(out, subject, report, now)]);
}

function renderCleanUp(out: Output, shoot: string, { seed, workflow, blocking, idle }: CleanUpReport, now: number) {
  const subject = `Clean-up of seed ${seed}`;
  if (blocking === undefined) return [paint(out, "strong", `${subject} ${idle}`)];
  const retry = commandLines.retryStep(shoot, blocking.step);
  return renderWaitingStep(out, { subject, blocking, retry, show: commandLines.showFlow(workflow) }, now);
}
