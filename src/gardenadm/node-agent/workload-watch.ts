import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { Deployment, Secret, StatefulSet } from "../../kube/kinds.ts";
import { createReflector } from "../../kube/watch.ts";
import { workloadsChecksum } from "../../self-hosted/workloads-checksum.ts";
import type { RenewalDeps } from "../reconcile/renew-static-pods.ts";
import { areOthers } from "../reconcile/static-pod-workloads.ts";
import { quiet } from "../cluster/away.ts";
import { createBell } from "./bell.ts";
import { dutyTiming, keepLooking, RESYNC } from "./keep-looking.ts";

/** What a watch is made from. */
export interface WorkloadWatchDeps extends RenewalDeps {
  /** In ms: when is looked again for what other nodes, or commands, are at. */
  readonly recheck?: number;
}

/**
 * Keeps the static pods of a control plane what the Deployments and StatefulSets of their names say, as they stand in the cluster
 * after webhooks, until it is stopped: where these have changed, it says so in the pool's Secret, which nodes follow one after another. All
 * nodes of a control plane watch, and one at a time acts, while no command changes the control plane.
 */
export async function watchWorkloads(deps: WorkloadWatchDeps, signal: AbortSignal): Promise<void> {
  const { client, log, recheck } = deps;
  const news = createBell();
  const watched = [Deployment, StatefulSet].map((kind) =>
    createReflector(client, kind, { namespace: SYSTEM_NAMESPACE, keep, log: quiet(log), onEvent: () => news.ring() }),
  );
  for (const reflector of watched) reflector.start();
  const look = createLook(deps, () => watched.flatMap((reflector) => reflector.list(SYSTEM_NAMESPACE)));
  try {
    await keepLooking({ look, news, log, failed: "static pods not made anew", timing: dutyTiming(recheck) }, signal);
  } finally {
    await Promise.all(watched.map((reflector) => reflector.stop()));
  }
}

/** Most of a workload's events are about its status, of which nothing follows. */
const keep = ({ status: _, ...object }: Deployment): Deployment => ({
  ...object,
  metadata: { ...object.metadata, managedFields: undefined },
});

/** What is known to be so is not asked of the API server again, but for now and then. */
function createLook(deps: WorkloadWatchDeps, list: () => readonly KubeObject[]): () => Promise<"done" | "waiting"> {
  let seen = { checksum: "", at: 0 };
  return async () => {
    const present = list();
    const now = { checksum: workloadsChecksum(present), at: performance.now() };
    if (now.checksum === seen.checksum && now.at - seen.at < RESYNC) return "done";
    const end = await lookCloser(deps, present);
    if (end === "done") seen = now;
    return end;
  };
}

/** What is little work looks whether there is more, whose code is loaded then only. */
async function lookCloser(deps: WorkloadWatchDeps, present: readonly KubeObject[]): Promise<"done" | "waiting"> {
  const { client, secretName: name } = deps;
  const secret = await client.read(Secret, { namespace: SYSTEM_NAMESPACE, name });
  if (secret === undefined || !areOthers(secret, present)) return "done";
  const { renewStaticPods } = await import("../reconcile/renew-static-pods.ts");
  return await renewStaticPods(deps);
}
