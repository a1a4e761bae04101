import { backoffDelay } from "../../kube/backoff.ts";
import type { Logger } from "../../log.ts";
import { isAway } from "./away.ts";
import type { Bell } from "./bell.ts";

/** How a watch of an agent goes about what it looks at. */
export interface Looking {
  /** "waiting" where others, who come first, are at work on it. */
  look(): Promise<"done" | "waiting">;
  readonly news: Bell;
  readonly log: Logger;
  /** What is said, beside the error, where a look has failed. */
  readonly failed: string;
  /** In ms: when is looked again for what others are at, or what has failed; later each time that it fails. */
  readonly recheck?: number | undefined;
}

/** In ms. */
const RESYNC = 600_000;
const RECHECK = 5_000;
const LONGEST_PAUSE = 60_000;

/** Looks at once, when there is news, and every ten minutes, until it is stopped. That the API server is away is for the heartbeat to say. */
export async function keepLooking(
  { look, news, log, failed, recheck = RECHECK }: Looking,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  const round = async (): Promise<number> => {
    try {
      const end = await look();
      failures = 0;
      return end === "waiting" ? recheck : RESYNC;
    } catch (error) {
      if (!signal.aborted && !isAway(error)) log.error({ err: error }, failed);
      return backoffDelay(failures++, { first: recheck, most: LONGEST_PAUSE }, error);
    }
  };
  while (!signal.aborted) await news.heard(await round(), signal);
}
