import { ConfigMap, isConflict, refTo, type KubeClient } from "../kube/index.ts";

/**
 * Says in the seed which cluster it is, where programs look: ConfigMap `cluster-identity` in `kube-system`. One that
 * is another writer's stays as it is: that of a Shoot that serves as a seed, above all (upstream: origins `shoot` and `seed`).
 */
export async function announceIdentity(seedClient: KubeClient, identity: string): Promise<void> {
  const ref = refTo(ConfigMap, { namespace: "kube-system", name: "cluster-identity" });
  if ((await seedClient.read(ref)) !== undefined) return;
  const { apiVersion, kind, name, namespace } = ref;
  const data = { "cluster-identity": identity, origin: "seed" };
  await seedClient.apply({ apiVersion, kind, metadata: { name, namespace }, immutable: true, data }).catch(ifTaken);
}

/** Another worker of the seed was first. */
function ifTaken(error: unknown): void {
  if (!isConflict(error)) throw error;
}
