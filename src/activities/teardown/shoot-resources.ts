import { listed } from "../../api/counted.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import {
  CustomResourceDefinition,
  PersistentVolume,
  refOf,
  unlessGone,
  type KubeClient,
  type ResourceType,
} from "../../kube/index.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import { StepError } from "../step-error.ts";
import type { CleanUpLimits } from "./clean-up-limits.ts";
import { isSpared } from "./spared.ts";

/**
 * Deletes what users made in a Shoot, while its controllers still run: load balancers, volumes and whatever else their
 * objects stand for go with them. Each phase deletes, then looks until nothing is left; `alive` is called between looks.
 * What has had its grace and is still there loses its finalizers.
 */
export interface ResourceCleaner {
  /** Webhooks that could refuse the deletions that follow. */
  webhooks(): Promise<void>;
  /** Custom resources, their definitions, and aggregated APIs. */
  extendedApis(): Promise<void>;
  /** Everything else, and at last the namespaces. */
  kubernetesResources(): Promise<void>;
}

/** How long a call may take, in ms, and how often it looks. */
export interface CleanerOptions {
  readonly deadline: number;
  readonly interval: number;
}

/** The clean-up of one Shoot. A call ends within its time, so that it is it that says what is left, and not a time-out. */
export function createResourceCleaner(
  shootClient: KubeClient,
  { grace, outsideOnly }: CleanUpLimits,
  alive: () => void,
  polling: CleanerOptions = { deadline: 600_000, interval: 2_000 },
): ResourceCleaner {
  const pause = async () => {
    alive();
    await new Promise((resolve) => setTimeout(resolve, polling.interval));
  };
  const begin = () => {
    const deadline = Date.now() + polling.deadline;
    return {
      async phase(what: string, types: readonly Graced[]) {
        for (;;) {
          const left: string[] = [];
          for (const type of types) left.push(...(await removeUsers(shootClient, type)));
          if (left.length === 0) return;
          if (Date.now() > deadline) throw leftovers(what, left, polling);
          await pause();
        }
      },
      /** Volumes are not deleted here: their provisioner deletes the disk first. One whose provisioner is gone, too, stays. */
      async awaitVolumes(seconds: number) {
        const end = Math.min(deadline, Date.now() + seconds * 1_000);
        while (Date.now() < end && (await shootClient.list(PersistentVolume, ofVolumes)).some(goesWithClaim))
          await pause();
      },
    };
  };
  const typesOf = async (seconds: number, chosen: (type: ResourceType) => boolean): Promise<Graced[]> =>
    (await shootClient.types()).filter(chosen).map((type) => ({ ...type, grace: seconds }));
  const ofKinds = (seconds: number, kinds: ReadonlySet<string>) => typesOf(seconds, ({ kind }) => kinds.has(kind));

  return {
    webhooks: async () => begin().phase("webhooks", await ofKinds(grace.webhooks, webhooks)),
    async extendedApis() {
      if (outsideOnly) return;
      const { phase } = begin();
      const definitions = (await shootClient.list(CustomResourceDefinition, ofDefinitions)).filter(
        (one) => !isSpared(one),
      );
      const kinds = new Set(definitions.map(({ spec }) => `${spec.group}/${spec.names.kind}`));
      const isCustom = (type: ResourceType) => kinds.has(`${groupOf(type)}/${type.kind}`);
      await phase("custom resources", await typesOf(grace.extendedApis, isCustom));
      await phase("extended APIs", await ofKinds(grace.extendedApis, extendedApis));
    },
    async kubernetesResources() {
      const { phase, awaitVolumes } = begin();
      const { kubernetesResources: seconds, snapshots: longer } = grace;
      await phase("workloads and services", await ofKinds(seconds, outsideOnly ? services : makers));
      await phase("storage", [...(await ofKinds(seconds, claims)), ...(await ofKinds(longer, snapshots))]);
      await awaitVolumes(seconds);
      if (!outsideOnly) await phase("namespaces", await ofKinds(seconds, namespaces));
    },
  };
}

/** A kind, and how long, in seconds, its objects may take to go. */
interface Graced extends ResourceType {
  readonly grace: number;
}

/** Deletes the users' objects of a kind; returns the names of those that are still there. */
async function removeUsers(shootClient: KubeClient, type: Graced): Promise<string[]> {
  if (!type.verbs.includes("list") || !type.verbs.includes("delete")) return [];
  const objects = (await unlessGone(usersObjects(shootClient, type))) ?? []; // one whose definition went meanwhile has nothing left
  const overdue = objects.filter((object) => isOverdue(object, type.grace));
  for (const object of overdue) await free(shootClient, object);
  for (const object of objects) await ask(shootClient, object);
  // What a namespace still holds by then stands for nothing outside of the cluster.
  const left = type.kind === "Namespace" ? objects.filter((object) => !overdue.includes(object)) : objects;
  return left.map(
    ({ metadata }) => `${type.kind} ${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}`,
  );
}

/** The users' first objects of a kind, as far as their deletion asks for: their users make them as many and as large as they like. */
async function usersObjects(shootClient: KubeClient, type: ResourceType): Promise<KubeObject[]> {
  if (type.kind === "APIService")
    return (await shootClient.list(type, ofApis)).filter((api) => !isSpared(api)).map(briefly);
  const users: KubeObject[] = [];
  for await (const object of shootClient.metadata(type)) {
    if (!isSpared(object)) users.push(briefly(object));
    if (users.length === MOST_AT_ONCE) break;
  }
  return users;
}

/** How many objects of a kind are deleted in one look: the next look finds others. */
const MOST_AT_ONCE = 5_000;

/** An object as far as it is deleted. */
function briefly({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, deletionTimestamp, finalizers = [] } = metadata;
  const kept = { name, ...omitUndefined({ namespace, uid, deletionTimestamp }), finalizers: finalizers.slice(0, 1) };
  return { apiVersion, kind, metadata: kept };
}

/** An object as far as it is spared or deleted. */
function withLabels(object: KubeObject): KubeObject {
  const { metadata, ...kept } = briefly(object);
  return { ...kept, metadata: { ...metadata, ...omitUndefined({ labels: object.metadata.labels }) } };
}

/** In characters of JSON: of all volumes, definitions and aggregated APIs together with what is kept of each. */
const most = 32_000_000;

const ofVolumes = {
  most,
  keep: ({ spec: { persistentVolumeReclaimPolicy, claimRef }, ...volume }: PersistentVolume): PersistentVolume => ({
    ...briefly(volume),
    spec: omitUndefined({ persistentVolumeReclaimPolicy, claimRef: claimRef && {} }),
  }),
};

const ofDefinitions = {
  most,
  keep: ({ spec, ...definition }: CustomResourceDefinition): CustomResourceDefinition => ({
    ...withLabels(definition),
    spec: { group: spec.group, names: { kind: spec.names.kind } },
  }),
};

const ofApis = {
  most,
  keep: (api: KubeObject): KubeObject => {
    const { service } = (api["spec"] ?? {}) as { service?: unknown };
    return { ...withLabels(api), spec: service === undefined ? {} : { service: {} } };
  },
};

function isOverdue({ metadata: { deletionTimestamp } }: KubeObject, grace: number): boolean {
  return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) + grace * 1_000 <= Date.now();
}

/** Has the object deleted by those who act on it; once is enough. */
async function ask(shootClient: KubeClient, object: KubeObject): Promise<void> {
  const { deletionTimestamp, uid } = object.metadata;
  if (deletionTimestamp !== undefined) return;
  await shootClient.remove(refOf(object), {
    propagationPolicy: "Background",
    ...(uid === undefined ? {} : { uid }),
  });
}

/** Lets the object go without those who hold it: its finalizers, or for a pod its node's kubelet. */
async function free(shootClient: KubeClient, object: KubeObject): Promise<void> {
  const { finalizers = [], uid = "" } = object.metadata;
  if (finalizers.length > 0) await unlessGone(shootClient.patch(refOf(object), { metadata: { finalizers: null } }));
  else if (object.kind === "Pod") await shootClient.remove(refOf(object), { gracePeriodSeconds: 0, uid });
}

const goesWithClaim = ({ spec }: PersistentVolume): boolean =>
  spec.claimRef !== undefined && spec.persistentVolumeReclaimPolicy === "Delete";

const groupOf = ({ apiVersion }: ResourceType): string => apiVersion.split("/")[0] ?? "";

const webhooks = new Set(["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"]);

const extendedApis = new Set(["CustomResourceDefinition", "APIService"]);

/** What makes other objects, and what stands for something outside the cluster, before what is used by them. */
const makers = new Set([
  "Ingress",
  "CronJob",
  "Job",
  "Deployment",
  "StatefulSet",
  "DaemonSet",
  "ReplicaSet",
  "ReplicationController",
  "Service",
  "Pod",
]);
const services = new Set(["Service"]);
const claims = new Set(["PersistentVolumeClaim"]);
const snapshots = new Set(["VolumeSnapshot", "VolumeSnapshotContent"]);
const namespaces = new Set(["Namespace"]);

function leftovers(what: string, left: readonly string[], { deadline }: CleanerOptions): StepError {
  const message = `cannot clean up ${what}: still there after ${deadline / 1_000} s: ${listed(left, 5)}`;
  return new StepError(message, ["ERR_CLEANUP_CLUSTER_RESOURCES"]);
}
