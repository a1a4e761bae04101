import { heartbeat } from "@temporalio/activity";

/** In ms; well below the shortest heartbeat timeout of the flows. */
export const BEAT = 2_000;

/** Says that the activity is alive for as long as its process is, so that nobody waits long for one whose worker was killed. */
export async function beating<T>(activity: () => Promise<T>): Promise<T> {
  const beat = setInterval(() => heartbeat(), BEAT);
  try {
    heartbeat();
    return await activity();
  } finally {
    clearInterval(beat);
  }
}
