import { randomBytes } from "node:crypto";
import type { KubeObject } from "../src/api/schema/meta.ts";
import { ConfigMap, createKubeClient, type KubeClient } from "../src/kube/index.ts";
import { projectNamespace, type TestShoot } from "../test/support/e2e-shoots.ts";
import type { LocalEnvironment } from "../test/support/local-environment.ts";
import { atMost } from "./at-most.ts";

/** Has the Shoot hold so many ConfigMaps of a megabyte, made through its API server; returns the size of its etcd in bytes. */
export async function fillTo(local: LocalEnvironment, { name }: TestShoot, megabytes: number): Promise<number> {
  const kubeconfig = await local.perennial("shoot", "kubeconfig", `${projectNamespace}/${name}`);
  const cluster = createKubeClient({ kubeconfig }, { log: local.log });
  try {
    const there = new Set((await cluster.list(ConfigMap, { keep: withoutData })).map(({ metadata }) => metadata.name));
    const wanted = Array.from({ length: megabytes }, (_, index) => `block-${index}`);
    const missing = wanted.filter((block) => !there.has(block));
    await atMost(4, missing, (block) => cluster.create(configMap(block)));
    return await sizeOf(cluster);
  } finally {
    await cluster.close();
  }
}

const withoutData = ({ data: _, ...configMap }: ConfigMap): ConfigMap => configMap;

/** A megabyte that does not compress. */
function configMap(name: string): KubeObject {
  const data = { noise: randomBytes(750_000).toString("base64") };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" }, data };
}

/** The size of etcd-main's database, as the API server was told by it; events are kept in the other one. */
async function sizeOf(cluster: KubeClient): Promise<number> {
  const metrics = String(await cluster.get("/metrics"));
  const sizes = [...metrics.matchAll(/^apiserver_storage_size_bytes\{.*\} (\S+)$/gm)].map(([, bytes]) => Number(bytes));
  if (sizes.length === 0) throw new Error("the API server's metrics do not say how large its etcd is");
  return Math.max(...sizes);
}
