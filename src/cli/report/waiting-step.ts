import { inner, renderFields } from "../display/fields.ts";
import { paint } from "../display/style.ts";
import type { Output } from "../display/terminal.ts";
import { formatSince } from "../display/time.ts";
import type { Blocking } from "./blocking.ts";

/** A step that holds something up, and the command lines that are about it. */
export interface WaitingStep {
  /** What waits, with a capital letter. */
  readonly subject: string;
  readonly blocking: Blocking & { readonly owner: string };
  /** Has the step tried again at once. */
  readonly retry: string;
  /** Shows the other steps. */
  readonly show: string;
}

/** As text: what waits and since when, who owns the step, its error, and what can be done. `now` is ms since the epoch. */
export function renderWaitingStep(out: Output, { subject, blocking, retry, show }: WaitingStep, now: number): string[] {
  const { step, state, since, owner, attempt, error } = blocking;
  const length = since ? ` ${formatSince(since, now)}` : "";
  const details = renderFields(
    {
      Owner: owner,
      Attempt: attempt === undefined ? undefined : String(attempt),
      Error: error?.message,
      Codes: error?.codes.join(", "),
      Remedy: remedyFor(state, retry),
      Steps: show,
    },
    inner(out),
  );
  const headline = `${subject} waits for step ${step}: ${state}${length}`;
  return [paint(out, state === "running" ? "strong" : "bad", headline), ...details.map((line) => `  ${line}`)];
}

function remedyFor(state: Blocking["state"], retry: string): string | undefined {
  if (state === "parked") return `mend the cause, then: ${retry}`;
  return state === "retrying" ? `mend the cause; it is tried again by itself, or at once: ${retry}` : undefined;
}
