import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { backoffDelay } from "../../kube/backoff.ts";
import { Deployment, Secret, StatefulSet } from "../../kube/kinds.ts";
import { createReflector } from "../../kube/watch.ts";
import { workloadsChecksum } from "../../self-hosted/workloads-checksum.ts";
import type { RenewalDeps } from "../reconcile/renew-static-pods.ts";
import { areOthers } from "../reconcile/standing-workloads.ts";
import { createBell } from "./bell.ts";

/** What a watch is made from. */
export interface WorkloadWatchDeps extends RenewalDeps {
  /** In ms: when is looked again for what other nodes, or commands, are at. */
  readonly recheck?: number;
}

/** In ms. */
const RESYNC = 600_000;
const RECHECK = 5_000;
const LONGEST_PAUSE = 60_000;

/**
 * Keeps the static pods of a control plane what the Deployments and StatefulSets of their names say, as they stand in the cluster
 * after webhooks, until it is stopped: where these have changed, it says so in the pool's Secret, which nodes follow one after another. All
 * nodes of a control plane watch, and one at a time acts, while no command changes the control plane.
 */
export async function watchWorkloads(deps: WorkloadWatchDeps, signal: AbortSignal): Promise<void> {
  const { client, log, recheck = RECHECK } = deps;
  const news = createBell();
  const watched = [Deployment, StatefulSet].map((kind) =>
    createReflector(client, kind, { namespace: SYSTEM_NAMESPACE, keep, log, onEvent: () => news.ring() }),
  );
  for (const reflector of watched) reflector.start();
  try {
    let seen = { checksum: "", at: 0 };
    for (let failures = 0; !signal.aborted;) {
      let pause = RESYNC;
      try {
        const standing = watched.flatMap((reflector) => reflector.list(SYSTEM_NAMESPACE));
        const now = { checksum: workloadsChecksum(standing), at: performance.now() };
        const isKnown = now.checksum === seen.checksum && now.at - seen.at < RESYNC;
        if (!isKnown && (await look(deps, standing)) === "waiting") pause = recheck;
        else if (!isKnown) seen = now;
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        log.error({ err: error }, "static pods not made anew");
        pause = backoffDelay(failures++, { first: recheck, most: LONGEST_PAUSE }, error);
      }
      await news.heard(pause, signal);
    }
  } finally {
    await Promise.all(watched.map((reflector) => reflector.stop()));
  }
}

/** Most of a workload's events are about its status, of which nothing follows. */
const keep = ({ status: _, ...object }: Deployment | StatefulSet): Deployment => ({
  ...object,
  metadata: { ...object.metadata, managedFields: undefined },
});

/** What is little work looks whether there is more, whose code is loaded then only. */
async function look(deps: WorkloadWatchDeps, standing: readonly KubeObject[]): Promise<"done" | "waiting"> {
  const { client, secretName: name } = deps;
  const secret = await client.read(Secret, { namespace: SYSTEM_NAMESPACE, name });
  if (secret === undefined || !areOthers(secret, standing)) return "done";
  const { renewStaticPods } = await import("../reconcile/renew-static-pods.ts");
  return await renewStaticPods(deps);
}
