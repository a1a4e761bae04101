import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeServingCertificate } from "../../src/admission/index.ts";
import { applyClusterApiCrds } from "../../src/local/cluster/manifests.ts";
import { define } from "../../src/kube/index.ts";
import { readCoreObjects } from "../../src/local/cluster-api/core-objects.ts";
import { managerFlags } from "../../src/local/cluster-api/manager-flags.ts";
import { spawnChild, type Child } from "./child.ts";
import type { ControlPlane } from "./control-plane.ts";
import { freePorts } from "./free-ports.ts";
import { seconds } from "./patience.ts";

/** Cluster API's own core manager, unmodified, on the cluster of a test: it judges by its webhooks and reconciles. */
export interface CoreManager {
  /** SIGKILL; its webhooks stay registered. */
  kill(): Promise<void>;
  /** Starts it again where it was. */
  start(): Promise<void>;
  /** Of its present life. */
  pid(): number | undefined;
  /** The last 64 kB that it logged in its present life. */
  output(): string;
}

/**
 * Defines Cluster API's kinds and ours in the cluster, starts its core manager and has its webhooks asked; `core.kill()` ends it. It
 * connects with another kubeconfig, where one is given.
 */
export async function startCoreManager(
  cluster: ControlPlane,
  kubeconfigFile = cluster.kubeconfigFile,
): Promise<CoreManager> {
  const { client } = cluster;
  const objects = await readCoreObjects();
  await define(client, objects.definitions);
  await applyClusterApiCrds(client);
  const [webhookPort = 0, healthPort = 0] = await freePorts(2);
  const directory = dirname(cluster.kubeconfigFile);
  const [certificateFile, keyFile] = [join(directory, "core-manager.crt"), join(directory, "core-manager.key")];
  const { cert, key, caBundle } = await makeServingCertificate(["127.0.0.1"]);
  await writeFile(certificateFile, cert);
  await writeFile(keyFile, key, { mode: 0o600 });
  const flags = managerFlags({ kubeconfigFile, certificateFile, keyFile, webhookPort, healthPort });
  let child: Child | undefined;
  const manager: CoreManager = {
    pid: () => child?.pid,
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
  for (const deadline = Date.now() + seconds(60); ; await sleep(100)) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (answer?.ok) return;
    if (!child.alive() || Date.now() > deadline)
      throw new Error(`the core manager is not ready:\n${child.output().slice(-3000)}`);
  }
}
