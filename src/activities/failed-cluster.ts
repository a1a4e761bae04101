import type { Cluster } from "../api/index.ts";
import { isNotFound, now, type KubeClient } from "../kube/index.ts";

/**
 * Says in the Shoot's Cluster that its operation has failed: extension controllers, also those that know nothing of
 * leadership, leave such a Shoot's objects alone (upstream: extensionscontroller.IsFailed). The next flow that syncs the
 * Cluster takes it back. Does nothing when there is no Cluster, or it says so already; tells whether it wrote.
 */
export async function failCluster(
  seed: KubeClient,
  name: string,
  why: string,
  o: { readonly fieldManager?: string } = {},
): Promise<boolean> {
  const ref = { apiVersion: "extensions.gardener.cloud/v1alpha1", kind: "Cluster", name };
  const cluster = await seed.read<Cluster>(ref);
  const { status } = (cluster?.spec.shoot ?? {}) as { status?: { lastOperation?: { state?: string } } };
  if (cluster === undefined || status?.lastOperation?.state === "Failed") return false;
  const before = status?.lastOperation ?? { type: "Reconcile", progress: 0 };
  const lastOperation = { ...before, state: "Failed", description: why, lastUpdateTime: now() };
  try {
    await seed.patch(ref, { spec: { shoot: { status: { lastOperation } } } }, o);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
