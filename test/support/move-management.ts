import { PROJECT_NAMESPACE_ANNOTATION } from "../../src/api/annotations.ts";
import { CORE_NAMESPACE, readCoreObjects } from "../../src/local/cluster-api/core-objects.ts";
import { Namespace, typeMeta } from "../../src/kube/index.ts";
import { startClusterApi, startCoreManager } from "./cluster-api.ts";
import { startControlPlane, type ControlPlane } from "./control-plane.ts";
import { startFaultyProxy, type FaultyProxy } from "./faulty-proxy.ts";
import { startGarbageCollector } from "./garbage-collector.ts";

/** A management cluster with the core manager and our process at work, and the way by which clusterctl reaches it. */
export interface Management {
  readonly cluster: ControlPlane;
  readonly proxy: FaultyProxy;
}

/** Where all is that is moved; the project namespace has that name, too. */
export const namespace = "garden-dev";

/** What stops something; in the order in which things were started. */
export type Stops = (() => Promise<void>)[];

/** Starts a management cluster beside a garden, and its process with two kubeconfigs. */
export async function startManagement(garden: ControlPlane, place: Place): Promise<Management> {
  const cluster = await startControlPlane();
  place.stops.push(() => cluster.stop());
  const annotations = { [PROJECT_NAMESPACE_ANNOTATION]: namespace };
  await cluster.client.apply({ ...typeMeta(Namespace), metadata: { name: namespace, annotations } });
  return await manage(cluster, place, { garden });
}

/** Makes a garden a management cluster: its process has one kubeconfig, and its namespace no annotation. */
export const manageGarden = async (garden: ControlPlane, place: Place): Promise<Management> =>
  await manage(garden, place, {});

/** Where processes of a test write, and what ends them. */
interface Place {
  readonly folder: string;
  readonly stops: Stops;
}

async function manage(
  cluster: ControlPlane,
  { folder, stops }: Place,
  own: { readonly garden?: ControlPlane },
): Promise<Management> {
  const core = await startCoreManager(cluster);
  stops.push(() => core.kill());
  const { inventory } = await readCoreObjects();
  await cluster.client.apply({ ...typeMeta(Namespace), metadata: { name: CORE_NAMESPACE } });
  await cluster.client.apply(inventory);
  const collector = await startGarbageCollector(cluster, folder);
  stops.push(() => collector.kill());
  const running = await startClusterApi(cluster, own);
  stops.push(() => running.stop());
  const proxy = await startFaultyProxy(cluster.tokenKubeconfig);
  stops.push(() => proxy.close());
  return { cluster, proxy };
}
