import { Cluster } from "../../api/cluster-api/index.ts";
import { createController, createReflector, refOf } from "../../kube/index.ts";
import { isPaused } from "../endpoint/paused.ts";
import type { ClusterApiDeps, Part } from "../part.ts";
import { isAtALoss, needsNoInfrastructure } from "./not-required.ts";

/**
 * Has the status of Clusters without infrastructure written once more, as it is, where core wrote it past the webhook: before the webhook
 * was there, or while no process answered. The webhook mends the write; without it nothing changes, and core has nothing to undo.
 */
export function createMendedClusters({ management, log }: ClusterApiDeps): Part {
  const controller = createController({
    name: "mended-clusters",
    log,
    async reconcile({ name, namespace }) {
      const cluster = clusters.get(name, namespace);
      if (
        cluster === undefined ||
        isPaused(cluster) ||
        !needsNoInfrastructure(cluster) ||
        !isAtALoss(cluster.status?.conditions)
      )
        return;
      await management.patch(refOf(cluster), {}, { subresource: "status" });
      log.debug({ cluster: `${namespace}/${name}` }, "status of a Cluster without infrastructure written once more");
      return { requeueAfter: AGAIN };
    },
  });
  const clusters = createReflector(management, Cluster, {
    log,
    onEvent: ({ type, object: { metadata } }) => {
      if (type !== "deleted") controller.enqueue({ name: metadata.name, namespace: metadata.namespace });
    },
  });
  return {
    start() {
      clusters.start();
      controller.start();
    },
    async stop() {
      await clusters.stop();
      await controller.stop();
    },
  };
}

/** In ms: how soon after a write that nothing mended the next one follows. */
const AGAIN = 30_000;
