import { createEventRecorder, createKubeClient, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { controllers } from "../../src/cluster-api/controllers.ts";
import { electLeader } from "../../src/cluster-api/lead.ts";
import type { ClusterApiDeps, Part } from "../../src/cluster-api/part.ts";
import type { ClusterApiWebhook } from "../../src/cluster-api/webhook.ts";
import { serveAll, webhooks } from "../../src/cluster-api/webhooks.ts";
import { ownClusterTest, type OwnClusterOptions } from "./cluster-test.ts";
import type { ControlPlane } from "./control-plane.ts";
import { startCoreManager } from "./core-manager.ts";

export { startCoreManager, type CoreManager } from "./core-manager.ts";

/** Tests with Cluster API: a cluster with its definitions, and the core manager at work in it. */
export const clusterApiTest = clusterApiTestWith();

/** The same, of a cluster with these options. */
export function clusterApiTestWith(options: OwnClusterOptions = {}) {
  return ownClusterTest(options).extend("core", { scope: "file" }, async ({ cluster }, { onCleanup }) => {
    const core = await startCoreManager(cluster);
    onCleanup(() => core.kill());
    return core;
  });
}

/** What of our process `cluster-api` runs in a test; all of it unless told otherwise. */
export interface OwnPartOptions {
  readonly controllers?: readonly ((deps: ClusterApiDeps) => Part)[];
  readonly webhooks?: readonly ClusterApiWebhook[];
  /** As whom it runs; as an administrator unless told otherwise. */
  readonly kubeconfig?: string;
  /** The garden, where it is another cluster. */
  readonly garden?: ControlPlane;
}

/** Runs our process `cluster-api` within the test, for a cluster that is management cluster and, unless told otherwise, the garden. */
export async function startClusterApi(
  cluster: ControlPlane,
  o: OwnPartOptions = {},
): Promise<{ stop(): Promise<void> }> {
  const log = createLogger({ name: "cluster-api", level: "silent" });
  const { kubeconfig = cluster.kubeconfig } = o;
  const connect = (config: string) =>
    createKubeClient({ kubeconfig: config }, { fieldManager: "perennial-cluster-api" });
  const client = connect(kubeconfig);
  const garden = o.garden === undefined ? client : connect(o.garden.kubeconfig);
  await ensureNamespace(cluster.client, "perennial");
  const events = createEventRecorder({ client, controller: "perennial.dev/cluster-api", instance: "test", log });
  const deps = { management: client, garden, events, log };
  const place = { namespace: "perennial", host: "127.0.0.1", port: 0 };
  const serving = await serveAll({ ...deps, ...place, webhooks: o.webhooks ?? webhooks });
  const timing = { expireAfter: 1_500, renewWithin: 1_000, retryEvery: 100 };
  const leader = electLeader({ ...deps, namespace: "perennial", controllers: o.controllers ?? controllers, timing });
  leader.start();
  return {
    async stop() {
      await leader.stop();
      await events.settled();
      await serving.stop();
      await Promise.all([...new Set([client, garden])].map((one) => one.close()));
    },
  };
}

const ensureNamespace = async (client: KubeClient, name: string): Promise<unknown> =>
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
