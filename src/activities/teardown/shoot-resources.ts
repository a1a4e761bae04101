import { MIRROR_POD_ANNOTATION } from "../../api/annotations.ts";
import { NO_CLEANUP_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { CustomResourceDefinition, isNotFound, type KubeClient, type ResourceType } from "../../kube/index.ts";
import { StepError } from "../failure.ts";

/**
 * Deletes what users made in a Shoot, while its controllers still run: load balancers, volumes and whatever else their
 * objects stand for go with them. Each phase deletes, then looks until nothing is left; `alive` is called between looks.
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
  alive: () => void,
  polling: CleanerOptions = { deadline: 600_000, interval: 2_000 },
): ResourceCleaner {
  const begin = () => {
    const deadline = Date.now() + polling.deadline;
    return async (what: string, types: readonly ResourceType[]) => {
      for (;;) {
        const left = (await Promise.all(types.map((type) => removeUsers(shootClient, type)))).flat();
        if (left.length === 0) return;
        if (Date.now() > deadline) throw leftovers(what, left, polling);
        alive();
        await new Promise((resolve) => setTimeout(resolve, polling.interval));
      }
    };
  };
  const typesOf = async (chosen: (type: ResourceType) => boolean) => (await shootClient.types()).filter(chosen);

  return {
    webhooks: async () => begin()("webhooks", await typesOf(isWebhook)),
    async extendedApis() {
      const phase = begin();
      const definitions = await shootClient.list(CustomResourceDefinition);
      const kinds = new Set(definitions.map(({ spec }) => `${spec.group}/${spec.names.kind}`));
      await phase("custom resources", await typesOf((type) => kinds.has(`${groupOf(type)}/${type.kind}`)));
      await phase(
        "extended APIs",
        await typesOf(({ kind }) => kind === "CustomResourceDefinition" || kind === "APIService"),
      );
    },
    async kubernetesResources() {
      const phase = begin();
      await phase("workloads and services", await typesOf(({ kind }) => first.has(kind)));
      await phase("objects", await typesOf(({ kind }) => second.has(kind)));
      await phase("namespaces", await typesOf(({ kind }) => kind === "Namespace"));
    },
  };
}

/** Deletes the users' objects of a kind; returns the names of those that are still there. */
async function removeUsers(shootClient: KubeClient, type: ResourceType): Promise<string[]> {
  if (!type.verbs.includes("list") || !type.verbs.includes("delete")) return [];
  const objects = (await listServed(shootClient, type)).filter((object) => !isOurs(object));
  for (const { metadata } of objects.filter((object) => object.metadata.deletionTimestamp === undefined)) {
    const { name, namespace, uid } = metadata;
    await shootClient.remove(
      { apiVersion: type.apiVersion, kind: type.kind, name, ...(namespace === undefined ? {} : { namespace }) },
      { propagationPolicy: "Background", ...(uid === undefined ? {} : { uid }) },
    );
  }
  return objects.map(
    ({ metadata }) => `${type.kind} ${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}`,
  );
}

/** A kind whose definition went meanwhile has nothing left. */
async function listServed(shootClient: KubeClient, type: ResourceType): Promise<KubeObject[]> {
  try {
    return await shootClient.list(type);
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

/** What the cluster itself lives on, and what we deployed: it goes with the control plane. */
function isOurs({ kind, metadata, ...object }: KubeObject): boolean {
  if (metadata.labels?.[NO_CLEANUP_LABEL] === "true") return true;
  if (metadata.namespace === "kube-system" && isOwned(metadata)) return true; // goes, or stays, with its owner
  if (kind === "Namespace") return systemNamespaces.has(metadata.name);
  if (kind === "Service") return metadata.namespace === "default" && metadata.name === "kubernetes";
  if (kind === "APIService") return (object["spec"] as { service?: unknown } | undefined)?.service === undefined;
  return metadata.annotations?.[MIRROR_POD_ANNOTATION] !== undefined;
}

const isOwned = ({ ownerReferences = [] }: KubeObject["metadata"]): boolean =>
  ownerReferences.some(({ controller }) => controller === true);

const systemNamespaces = new Set(["default", "kube-system", "kube-public", "kube-node-lease"]);

const isWebhook = ({ kind }: ResourceType): boolean =>
  kind === "ValidatingWebhookConfiguration" || kind === "MutatingWebhookConfiguration";

const groupOf = ({ apiVersion }: ResourceType): string => apiVersion.split("/")[0] ?? "";

/** What makes other objects, and what stands for something outside the cluster, before what is used by them. */
const first = new Set([
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
const second = new Set(["PersistentVolumeClaim", "VolumeSnapshot", "PersistentVolume"]);

function leftovers(what: string, left: readonly string[], { deadline }: CleanerOptions): StepError {
  const shown = left.slice(0, 5).join(", ");
  const more = left.length > 5 ? ` and ${left.length - 5} more` : "";
  return new StepError(`cannot clean up ${what}: still there after ${deadline / 1_000} s: ${shown}${more}`, [
    "ERR_CLEANUP_CLUSTER_RESOURCES",
  ]);
}
