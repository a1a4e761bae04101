import type { Cluster } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { now, type KubeClient, type MergePatch } from "../../kube/index.ts";

/** An object that keeps something going, as it was read, and the change that ends this without losing the object. */
export interface Stop {
  readonly object: KubeObject;
  readonly change: MergePatch;
}

/** What in a namespace still has pods made; nothing when all of it was stopped. A Job that has ended makes none. */
export async function findPodMakers(seedClient: KubeClient, namespace: string): Promise<Stop[]> {
  const listed = kinds.map(({ apiVersion, kind }) => seedClient.list<Maker>({ apiVersion, kind }, { namespace }));
  const found = await Promise.all(listed);
  return kinds.flatMap(({ acts, change }, index) =>
    (found[index] ?? []).filter(acts).map((object) => ({ object, change })),
  );
}

/**
 * Has the Shoot's Cluster say that its operation has failed: extension controllers, also those that know nothing of
 * leadership, leave such a Shoot's objects alone (upstream: extensionscontroller.IsFailed). The next flow that syncs the
 * Cluster takes it back. Undefined when there is no Cluster, or it says so already.
 */
export async function findActiveCluster(seedClient: KubeClient, name: string, why: string): Promise<Stop | undefined> {
  const object = await seedClient.read<Cluster>({
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Cluster",
    name,
  });
  const { status } = (object?.spec.shoot ?? {}) as { status?: { lastOperation?: { state?: string } } };
  if (object === undefined || status?.lastOperation?.state === "Failed") return undefined;
  const before = status?.lastOperation ?? { type: "Reconcile", progress: 0 };
  const lastOperation = { ...before, state: "Failed", description: why, lastUpdateTime: now() };
  return { object, change: { spec: { shoot: { status: { lastOperation } } } } };
}

interface Maker extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly suspend?: boolean };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const scaled = { acts: ({ spec }: Maker) => spec.replicas !== 0, change: { spec: { replicas: 0 } } };

const suspended = {
  acts: ({ spec, status }: Maker) => spec.suspend !== true && !(status?.conditions ?? []).some(isEnd),
  change: { spec: { suspend: true } },
};

const kinds = [
  { apiVersion: "apps/v1", kind: "Deployment", ...scaled },
  { apiVersion: "apps/v1", kind: "StatefulSet", ...scaled },
  { apiVersion: "batch/v1", kind: "CronJob", ...suspended },
  { apiVersion: "batch/v1", kind: "Job", ...suspended },
];

const isEnd = ({ type, status }: { readonly type: string; readonly status: string }): boolean =>
  (type === "Complete" || type === "Failed") && status === "True";
