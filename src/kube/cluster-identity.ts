import type { KubeClient } from "./client.ts";
import { Namespace } from "./kinds.ts";

/**
 * What tells a cluster from every other one: the uid of its namespace `kube-system`, which is there as long as the cluster, and
 * comes back with its etcd. Throws when it cannot be read.
 */
export async function readClusterIdentity(client: KubeClient): Promise<string> {
  const uid = (await client.read(Namespace, { name: "kube-system" }))?.metadata.uid;
  if (uid === undefined)
    throw new Error(`cannot tell which cluster ${client.server} is: it has no namespace kube-system`);
  return uid;
}
