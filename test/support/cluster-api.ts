import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeServingCertificate } from "../../src/admission/index.ts";
import { createEventRecorder, createKubeClient, type KubeClient } from "../../src/kube/index.ts";
import { applyClusterApiCrds, define } from "../../src/local/cluster/manifests.ts";
import { readCoreObjects } from "../../src/local/cluster-api/core-objects.ts";
import { managerFlags } from "../../src/local/cluster-api/manager-flags.ts";
import { createLogger } from "../../src/log.ts";
import { controllers } from "../../src/cluster-api/controllers.ts";
import { electLeader } from "../../src/cluster-api/lead.ts";
import type { ClusterApiDeps, Part } from "../../src/cluster-api/part.ts";
import type { ClusterApiWebhook } from "../../src/cluster-api/webhook.ts";
import { serveAll, webhooks } from "../../src/cluster-api/webhooks.ts";
import { spawnChild, type Child } from "./child.ts";
import { ownClusterTest, type OwnClusterOptions } from "./cluster-test.ts";
import type { ControlPlane } from "./control-plane.ts";
import { freePorts } from "./free-ports.ts";

/** Cluster API's own core manager, unmodified, on the cluster of a test: it judges by its webhooks and reconciles. */
export interface CoreManager {
  /** SIGKILL; its webhooks stay registered. */
  kill(): Promise<void>;
  /** Starts it again where it was. */
  start(): Promise<void>;
  /** The last 64 kB that it logged in its present life. */
  output(): string;
}

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

/** Defines Cluster API's kinds and ours in the cluster, starts its core manager and has its webhooks asked; `core.kill()` ends it. */
export async function startCoreManager(cluster: ControlPlane): Promise<CoreManager> {
  const { client, kubeconfigFile } = cluster;
  const objects = await readCoreObjects();
  await define(client, objects.definitions);
  await applyClusterApiCrds(client);
  const [webhookPort = 0, healthPort = 0] = await freePorts(2);
  const directory = dirname(kubeconfigFile);
  const [certificateFile, keyFile] = [join(directory, "core-manager.crt"), join(directory, "core-manager.key")];
  const { cert, key, caBundle } = await makeServingCertificate(["127.0.0.1"]);
  await writeFile(certificateFile, cert);
  await writeFile(keyFile, key, { mode: 0o600 });
  const flags = managerFlags({ kubeconfigFile, certificateFile, keyFile, webhookPort, healthPort });
  let child: Child | undefined;
  const manager: CoreManager = {
    kill: async () => await child?.kill(),
    async start() {
      child = await spawnChild(directory, "cluster-api-manager", flags);
      await ready(child, healthPort);
    },
    output: () => child?.output() ?? "",
  };
  await manager.start();
  for (const one of objects.webhooks({ url: `https://127.0.0.1:${webhookPort}`, caBundle })) await client.apply(one);
  return manager;
}

async function ready(child: Child, port: number): Promise<void> {
  for (const deadline = Date.now() + 60_000; ; await sleep(100)) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (answer?.ok) return;
    if (!child.alive() || Date.now() > deadline)
      throw new Error(`the core manager is not ready:\n${child.output().slice(-3000)}`);
  }
}

/** What of our process `cluster-api` runs in a test; all of it unless told otherwise. */
export interface OwnPartOptions {
  readonly controllers?: readonly ((deps: ClusterApiDeps) => Part)[];
  readonly webhooks?: readonly ClusterApiWebhook[];
  /** As whom it runs; as an administrator unless told otherwise. */
  readonly kubeconfig?: string;
}

/** Runs our process `cluster-api` within the test, for a cluster that is management cluster and garden in one. */
export async function startClusterApi(
  cluster: ControlPlane,
  o: OwnPartOptions = {},
): Promise<{ stop(): Promise<void> }> {
  const log = createLogger({ name: "cluster-api", level: "silent" });
  const { kubeconfig = cluster.kubeconfig } = o;
  const client = createKubeClient({ kubeconfig }, { fieldManager: "perennial-cluster-api" });
  await ensureNamespace(cluster.client, "perennial");
  const events = createEventRecorder({ client, controller: "perennial.dev/cluster-api", instance: "test", log });
  const deps = { management: client, garden: client, events, log };
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
      await client.close();
    },
  };
}

const ensureNamespace = async (client: KubeClient, name: string): Promise<unknown> =>
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
