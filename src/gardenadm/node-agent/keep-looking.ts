import { backoffDelay } from "../../kube/backoff.ts";
import type { Logger } from "../../log.ts";
import { isAway } from "../cluster/away.ts";
import type { Bell } from "./bell.ts";

/** How a watch of an agent goes about what it looks at. */
export interface Looking {
  /** "waiting" where something is not there yet, or others come first; "over" ends it. */
  look(): Promise<"done" | "waiting" | "over">;
  readonly news: Bell;
  readonly log: Logger;
  /** What is said, beside the error, where a look has failed. */
  readonly failed: string;
  readonly timing: LookTiming;
}

/** In ms: when is looked again without news. */
export interface LookTiming {
  /** For what nothing is known to be wrong with. */
  readonly resync: number;
  /** For what was waited for. */
  readonly recheck: number;
  /** For what has failed: first, and at most, as it is later each time. */
  readonly retry: number;
  readonly longestPause: number;
}

/** In ms: what nothing is known to be wrong with is looked at again. */
export const RESYNC = 600_000;

/** For what all nodes of a control plane look after, of which one acts; `recheck` is 5 s unless told otherwise. */
export const dutyTiming = (recheck = 5_000): LookTiming => ({
  ...{ resync: RESYNC, recheck, retry: recheck, longestPause: 60_000 },
});

/** Looks at once, when there is news, and from time to time, until it is over or stopped. That the API server is away is for the heartbeat to say. */
export async function keepLooking({ look, news, log, failed, timing }: Looking, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    let pause = timing.resync;
    try {
      const end = await look();
      if (end === "over") return;
      if (end === "waiting") pause = timing.recheck;
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (!isAway(error)) log.error({ err: error }, failed);
      pause = backoffDelay(failures++, { first: timing.retry, most: timing.longestPause }, error);
    }
    await news.heard(pause, signal);
  }
}
