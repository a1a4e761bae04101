import { Cluster } from "../../api/cluster-api/index.ts";
import { createObjectController, refOf } from "../../kube/index.ts";
import { isPaused } from "../objects/paused.ts";
import type { ClusterApiDeps, Part } from "../part.ts";
import { createWatches } from "../watches.ts";
import { isAtALoss, needsNoInfrastructure } from "./not-required.ts";

/**
 * Has the status of Clusters without infrastructure written once more, as it is, where core wrote it past the webhook: before the webhook
 * was there, or while no process answered. The webhook mends the write; without it nothing changes, and core has nothing to undo.
 */
export function createMendedClusters({ management, log, ...deps }: ClusterApiDeps): Part {
  return createObjectController({
    name: "mended-clusters",
    client: management,
    kind: Cluster,
    watch: (deps.watches ?? createWatches({ management, log })).clusters,
    log,
    async reconcile(cluster) {
      if (isPaused(cluster) || !needsNoInfrastructure(cluster) || !isAtALoss(cluster.status?.conditions)) return;
      await management.patch(refOf(cluster), {}, { subresource: "status" });
      const { name, namespace } = cluster.metadata;
      log.debug({ cluster: `${namespace}/${name}` }, "status of a Cluster without infrastructure written once more");
      return { requeueAfter: AGAIN };
    },
  });
}

/** In ms: how soon after a write that nothing mended the next one follows. */
const AGAIN = 30_000;
