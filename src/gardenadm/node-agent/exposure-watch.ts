import { isReady } from "../../activities/waits/readiness.ts";
import { CONTROL_PLANE_LABEL } from "../../api/labels.ts";
import { controlPlanePools } from "../../api/shoot/self-hosted.ts";
import type { Shoot } from "../../api/shoot/shoot.ts";
import type { KubeClient } from "../../kube/client.ts";
import { Node } from "../../kube/kinds.ts";
import { createReflector } from "../../kube/watch.ts";
import type { Logger } from "../../log.ts";
import { quiet } from "../cluster/away.ts";
import { shootAtHand } from "../cluster/shoot-at-hand.ts";
import { createBell } from "./bell.ts";
import { dutyTiming, keepLooking } from "./keep-looking.ts";

/** The cluster whose control plane is led to, and the node that acts. */
export interface ExposureWatchDeps {
  /** With an administrator's rights. */
  readonly client: KubeClient;
  readonly hostName: string;
  readonly log: Logger;
  /** In ms: when is looked again for what other nodes, or commands, are at. */
  readonly recheck?: number;
}

/**
 * Keeps what leads to the control plane from elsewhere at its healthy nodes, until it is stopped. All nodes of a control plane watch, and
 * one at a time acts, while no command changes the control plane.
 */
export async function watchExposure(deps: ExposureWatchDeps, signal: AbortSignal): Promise<void> {
  const { client, log, recheck } = deps;
  const news = createBell();
  const nodes = createReflector(client, Node, {
    labelSelector: CONTROL_PLANE_LABEL,
    log: quiet(log),
    onEvent: () => news.ring(),
  });
  nodes.start();
  const failed = "control plane not exposed as its nodes are";
  let seen = "";
  const look = async () => {
    const now = JSON.stringify(nodes.list().map(factsOf).toSorted());
    const end = now === seen ? "done" : await follow(deps, signal);
    if (end === "done") seen = now;
    return end;
  };
  try {
    await Promise.race([nodes.synced(), aborted(signal)]);
    await keepLooking({ look, news, log, failed, timing: dutyTiming(recheck) }, signal);
  } finally {
    await nodes.stop();
  }
}

/** What of a Node decides whether, and at which address, it is led to. */
const factsOf = (node: Node): string => JSON.stringify([node.metadata.name, isReady(node), node.status?.addresses]);

/** Where nothing is exposed, no more code is loaded. */
async function follow(deps: ExposureWatchDeps, signal: AbortSignal): Promise<"done" | "waiting"> {
  const shoot = await shootAtHand(deps.client);
  if (shoot === undefined || !asksForExposure(shoot)) return "done";
  const { renewExposure } = await import("../reconcile/renew-exposure.ts");
  return await renewExposure(deps, signal);
}

const asksForExposure = (shoot: Shoot): boolean =>
  controlPlanePools(shoot).some(({ controlPlane }) => controlPlane?.exposure !== undefined);

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
