import type { ShootCluster, ShootControlPlane, ShootMachinePool } from "../../api/cluster-api/index.ts";
import { createController, type NamespacedKey } from "../../kube/index.ts";
import type { Silence } from "../control-plane/report.ts";
import type { ClusterApiDeps, Part } from "../part.ts";
import { createApiServers } from "../shoot/api-servers.ts";
import { createGardenView } from "../shoot/garden-view.ts";
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
  const gardenView = createGardenView({
    ...{ garden, world, isApart: management !== garden },
    onChange: () =>
      [world.controlPlanes, world.infrastructures, world.pools].forEach((of) => of.list().forEach(wakeCluster)),
  });
  const writer = guardReferences(createShootWriter(garden), garden);
  const all = { gardenView, management, garden, events, world, writer, servers, silence };
  function wakeCluster(part: ShootControlPlane | ShootCluster | ShootMachinePool): void {
    const name = clusterNameOf(part);
    if (name !== undefined) controller.enqueue({ namespace: part.metadata.namespace, name });
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
      gardenView.start(); // what needs no garden does not wait for it
      world.synced().then(controller.start, () => log.info("stopped before the first lists"));
    },
    async stop() {
      gardenView.stop();
      await world.stop();
      await controller.stop();
      await servers.stop();
    },
  };
}
