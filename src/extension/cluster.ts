import { Cluster } from "../api/index.ts";
import { isDeletedByForce } from "../api/shoot/force-deletion.ts";
import type { KubeClient } from "../kube/index.ts";

/** The Cluster of a Shoot's namespace: what the Shoot, its Seed and its CloudProfile look like. Throws when there is none. */
export async function getCluster(client: KubeClient, namespace: string): Promise<Cluster> {
  const cluster = await client.read(Cluster, { name: namespace });
  if (!cluster) throw new Error(`cannot read Cluster ${namespace}: there is none`);
  return cluster;
}

/** Whether the Shoot's last operation has failed for good, so that extensions must leave its objects alone. */
export function hasShootFailed(cluster: Cluster | undefined): boolean {
  return cluster?.spec.shoot.status?.lastOperation?.state === "Failed";
}

/** Whether the Shoot's owner asked to delete it whatever is left behind. */
export function needsForceDeletion(cluster: Cluster | undefined): boolean {
  return cluster !== undefined && isDeletedByForce(cluster.spec.shoot);
}
