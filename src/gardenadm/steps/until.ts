import { setTimeout as delay } from "node:timers/promises";
import type { StepScope } from "../../in-process/run.ts";
import { OperatorError } from "./fault.ts";
import { tellNews } from "../../tell-news.ts";

/** How something is waited for; in ms. */
export interface Waiting {
  /** Completes the sentence of what is told and thrown. */
  readonly advice?: string;
  readonly atMost?: number;
}

/** What has to become true: with a sentence, it says what is missing. */
export type Look = (signal: AbortSignal) => Promise<boolean | string>;

/** Where what a kubelet runs says why it does not. */
const IN_LOGS = 'see "journalctl --unit kubelet.service" and the logs in /var/log/pods';

/**
 * Looks twice a second until it is so, and tells what is missing; a look that fails says why it is not so yet. Throws an
 * OperatorError after five minutes, unless told otherwise, and the signal's reason when that is aborted.
 */
export async function until(
  what: string,
  { signal, tell }: StepScope,
  isSo: Look,
  { advice = IN_LOGS, atMost = 300_000 }: Waiting = {},
): Promise<void> {
  const limit = AbortSignal.timeout(atMost);
  const tellReason = tellNews(tell);
  for (;;) {
    const answer = await isSo(AbortSignal.any([signal, AbortSignal.timeout(10_000)])).catch((error: unknown) => error);
    if (answer === true) return;
    signal.throwIfAborted();
    const reason = answer === false ? what : `${what}: ${answer instanceof Error ? answer.message : String(answer)}`;
    if (limit.aborted) throw new OperatorError(`${reason}, after ${Math.round(atMost / 1000)} s: ${advice}`);
    tellReason(reason);
    await delay(500, undefined, { signal }).catch(() => {});
  }
}
