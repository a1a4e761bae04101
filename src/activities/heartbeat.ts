import { heartbeat } from "./temporal.ts";

/** In ms; well below the shortest heartbeat timeout of the flows. */
export const HEARTBEAT_PERIOD = 2_000;

/**
 * Sends heartbeats while the activity runs, so that Temporal soon notices when its worker was killed. One that is over before
 * the first is due sends none: each is a call, and one that Temporal's cloud bills.
 */
export async function withHeartbeat<T>(activity: () => Promise<T>, period = HEARTBEAT_PERIOD): Promise<T> {
  const beat = setInterval(() => heartbeat(), period);
  try {
    return await activity();
  } finally {
    clearInterval(beat);
  }
}
