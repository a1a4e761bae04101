import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { parseAllDocuments } from "yaml";
import { ROLE_LABEL } from "../../src/api/labels.ts";
import { EPOCH_ANNOTATION } from "../../src/api/annotations.ts";
import type { KubeObject } from "../../src/api/index.ts";
import { KubeError, Namespace, refOf, refTo, type KubeClient } from "../../src/kube/index.ts";

/** Applies the admission policies of deploy/, a seed's or the garden's, and resolves when the API server goes by them. */
export async function applyFencing(client: KubeClient, cluster: "seed" | "garden"): Promise<void> {
  const file = new URL(`../../deploy/${cluster}/fencing.yaml`, import.meta.url);
  for (const document of parseAllDocuments(await readFile(file, "utf8"))) {
    await client.apply(document.toJS() as KubeObject);
  }
  await (cluster === "seed" ? seedInForce(client) : gardenInForce(client));
}

async function seedInForce(client: KubeClient): Promise<void> {
  const labels = { [ROLE_LABEL]: "shoot" };
  const namespace = (number: number) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: probe, labels, ...epoch(number) },
  });
  await client.apply(namespace(2));
  await refused(() => client.apply(namespace(1), { dryRun: true })); // each policy comes into force by itself
  const metadata = { name: probe, namespace: probe, ...epoch(1) };
  await refused(() => client.apply({ apiVersion: "v1", kind: "ConfigMap", metadata }, { dryRun: true }));
  await client.remove(refTo(Namespace, { name: probe }));
}

async function gardenInForce(client: KubeClient): Promise<void> {
  const state = (number: number): KubeObject => ({
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "ShootState",
    metadata: { name: probe, namespace: "default", ...epoch(number) },
  });
  await client.apply(state(2));
  await refused(() => client.apply(state(1), { dryRun: true }));
  await client.remove(refOf(state(2)));
}

const probe = "fence-probe";

const epoch = (number: number) => ({ annotations: { [EPOCH_ANNOTATION]: String(number) } });

async function refused(write: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    try {
      await write();
    } catch (error) {
      if (error instanceof KubeError && error.status === 403) return;
      throw error;
    }
    await sleep(50);
  }
  throw new Error("the API server does not go by the fencing policies after ten seconds");
}
