import { IGNORE_RESOURCE_ANNOTATION, STOPPED_ANNOTATION } from "../../api/annotations.ts";
import { Cluster, ManagedResource } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import {
  CronJob,
  Deployment,
  Job,
  now,
  StatefulSet,
  unlessGone,
  type Kind,
  type KubeClient,
  type MergePatch,
} from "../../kube/index.ts";
import { isIgnored } from "../managed-resources/health.ts";

/** An object that keeps something going, as it was read, and the change that ends this without losing the object. */
export interface Stop {
  readonly object: KubeObject;
  readonly change: MergePatch;
}

/** What in a namespace still has pods made; nothing when all of it was stopped. A Job that has ended makes none. */
export async function findPodMakers(seedClient: KubeClient, namespace: string): Promise<Stop[]> {
  const listed = makers.map(({ kind }) => seedClient.list(kind, { namespace }));
  const found = await Promise.all(listed);
  return makers.flatMap(({ acts, change }, index) =>
    (found[index] ?? []).filter(acts).map((object) => ({ object, change })),
  );
}

/**
 * Has resource managers leave alone what they have applied for a Shoot: they would scale up again what is stopped, and take
 * away in the Shoot what belongs to it where it goes on. The next flow here takes this back.
 */
export async function findManagedResources(seedClient: KubeClient, namespace: string): Promise<Stop[]> {
  const managed = (await unlessGone(seedClient.list(ManagedResource, { namespace }))) ?? [];
  const change = { metadata: { annotations: { [IGNORE_RESOURCE_ANNOTATION]: "true", [STOPPED_ANNOTATION]: "true" } } };
  return managed.filter((object) => !isIgnored(object)).map((object) => ({ object, change }));
}

/**
 * Has the Shoot's Cluster say that its operation has failed: extension controllers, also those that know nothing of
 * leadership, leave such a Shoot's objects alone (upstream: extensionscontroller.IsFailed). The next flow that syncs the
 * Cluster takes it back. Undefined when there is no Cluster, or it says so already.
 */
export async function findActiveCluster(seedClient: KubeClient, name: string, why: string): Promise<Stop | undefined> {
  const object = await seedClient.read(Cluster, { name });
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

/** Whether an object of a kind has pods made, and the change that ends it. */
interface Making extends Pick<Stop, "change"> {
  readonly acts: (maker: Maker) => boolean;
}

const scaled: Making = { acts: ({ spec }: Maker) => spec.replicas !== 0, change: { spec: { replicas: 0 } } };

const suspended: Making = {
  acts: ({ spec, status }: Maker) => spec.suspend !== true && !(status?.conditions ?? []).some(isEnd),
  change: { spec: { suspend: true } },
};

const makers: readonly (Making & { readonly kind: Kind<Maker, "Namespaced"> })[] = [
  { kind: Deployment, ...scaled },
  { kind: StatefulSet, ...scaled },
  { kind: CronJob, ...suspended },
  { kind: Job, ...suspended },
];

const isEnd = ({ type, status }: { readonly type: string; readonly status: string }): boolean =>
  (type === "Complete" || type === "Failed") && status === "True";
