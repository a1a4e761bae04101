import type { KubeClient } from "../../kube/index.ts";
import { applyClusterApiCrds } from "../cluster/manifests.ts";
import { readManifest } from "../../manifests.ts";
import { define } from "../../kube/index.ts";
import { readCoreObjects } from "./core-objects.ts";

/** Makes a cluster a management cluster: Cluster API's kinds and ours, the core manager's rights, and clusterctl's inventory. */
export async function furnishManagementCluster(client: KubeClient, signal: AbortSignal | undefined): Promise<void> {
  const { definitions, rights, inventory } = await readCoreObjects(signal === undefined ? {} : { signal });
  await define(client, definitions);
  await applyClusterApiCrds(client);
  const policies = await readManifest("cluster-api/endpoint-admission.yaml");
  for (const object of [...policies, ...rights, inventory]) await client.apply(object);
}
