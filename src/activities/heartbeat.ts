import { heartbeat } from "@temporalio/activity";

/** In ms; well below the shortest heartbeat timeout of the flows. */
export const HEARTBEAT_PERIOD = 2_000;

/** Says that the activity is alive for as long as its process is, so that nobody waits long for one whose worker was killed. */
export async function withHeartbeat<T>(activity: () => Promise<T>): Promise<T> {
  const beat = setInterval(() => heartbeat(), HEARTBEAT_PERIOD);
  try {
    heartbeat();
    return await activity();
  } finally {
    clearInterval(beat);
  }
}
