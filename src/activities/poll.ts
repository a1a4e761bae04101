import { setTimeout as sleep } from "node:timers/promises";
import { StepError } from "./step-error.ts";

/** How long, in ms, something is looked at, and how often. */
export interface PollOptions {
  readonly timeout: number;
  readonly period: number;
}

/** Looks until nothing is said to be in the way; throws what was said last when it takes too long. */
export async function poll(
  { timeout, period }: PollOptions,
  look: () => Promise<string | StepError | undefined>,
): Promise<void> {
  for (const end = performance.now() + timeout; ; await sleep(period)) {
    const problem = await look();
    if (problem === undefined) return;
    if (performance.now() >= end) throw typeof problem === "string" ? new StepError(problem) : problem;
  }
}

/** What Kubernetes' own controllers and API servers are given to act on a change. */
export const CONTROLLER_POLLING: PollOptions = { timeout: 60_000, period: 250 };
