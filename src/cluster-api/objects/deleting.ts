import type { KubeClient } from "../../kube/index.ts";
import type { Again } from "../again.ts";
import type { Obstacle } from "./obstacle.ts";
import { say, type Reporting } from "./say.ts";

/** In ms: how soon a deletion that was refused, or has to wait for what no watch tells of, is tried again. */
const RETRY_DELAY = 15_000;

/** Says of an object that is being deleted what it waits for; the next look comes by itself. */
export async function waitDeleting(management: KubeClient, object: Reporting, obstacle: Obstacle): Promise<Again> {
  await sayDeleting(management, object, obstacle);
  return { requeueAfter: RETRY_DELAY };
}

/** The same where watches tell of the end of it. */
export const sayDeleting = (management: KubeClient, object: Reporting, obstacle: Obstacle): Promise<void> =>
  say(management, object, [{ type: "Deleting", status: "True", ...obstacle }]);

/** An obstacle to a deletion, with the way to end it all the same. */
export const withWayOut = ({ reason, message }: Obstacle, way: string): Obstacle => ({
  reason,
  message: `${message}. ${way}`,
});
