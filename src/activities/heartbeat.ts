import { heartbeat } from "@temporalio/activity";

/** In ms; well below the shortest heartbeat timeout of the flows. */
export const HEARTBEAT_PERIOD = 2_000;

/** Sends heartbeats while the activity runs, so that Temporal soon notices when its worker was killed. */
export async function withHeartbeat<T>(activity: () => Promise<T>): Promise<T> {
  const beat = setInterval(() => heartbeat(), HEARTBEAT_PERIOD);
  try {
    heartbeat();
    return await activity();
  } finally {
    clearInterval(beat);
  }
}
