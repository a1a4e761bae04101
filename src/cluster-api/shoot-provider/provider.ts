import type { ShootControlPlane } from "../../api/cluster-api/index.ts";
import { createController, type NamespacedKey } from "../../kube/index.ts";
import type { Silence } from "../control-plane/report.ts";
import type { ClusterApiDeps, Part } from "../part.ts";
import { createApiServers } from "../shoot/api-servers.ts";
import { watchGarden } from "../shoot/garden-silence.ts";
import { guardReferences } from "../shoot/references.ts";
import { clusterNameOf, createWorld } from "../shoot/world.ts";
import { createShootWriter } from "../shoot/write.ts";
import { reconcileCluster } from "./cluster.ts";

/**
 * Makes Shoots the control planes and the machines of Clusters. One reconciliation is for a whole Cluster: its infrastructure, its
 * control plane, its pools. Each derives anew what it does; what has to last is the Shoot's own flow.
 */
export function createShootProvider(deps: ClusterApiDeps): Part {
  const { management, garden, events, log } = deps;
  const world = createWorld(deps, (cluster) => controller.enqueue(cluster));
  const servers = createApiServers(log, (id) => {
    const [namespace = "", name = ""] = id.split("/");
    controller.enqueue({ namespace, name });
  });
  const silence: Silence = new Map();
  const gardenSilence = watchGarden({
    garden,
    isHeard: () => management === garden || world.shoots.isCurrent(), // one cluster that is away cannot be told of it
    onChange: () => world.controlPlanes.list().forEach(wakeCluster),
  });
  const writer = guardReferences(createShootWriter(garden), garden);
  const all = { gardenSilence, management, garden, events, world, writer, servers, silence };
  function wakeCluster(controlPlane: ShootControlPlane): void {
    const name = clusterNameOf(controlPlane);
    if (name !== undefined) controller.enqueue({ namespace: controlPlane.metadata.namespace, name });
  }

  const controller = createController<NamespacedKey>({
    name: "cluster-api-shoots",
    concurrency: 16,
    log,
    reconcile: (key) => reconcileCluster(all, key),
  });

  return {
    start() {
      world.start();
      world.synced().then(
        () => (controller.start(), gardenSilence.start()),
        () => log.info("stopped before the first lists"),
      );
    },
    async stop() {
      gardenSilence.stop();
      await world.stop();
      await controller.stop();
      await servers.stop();
    },
  };
}
