import type { KubeObject } from "../../api/schema/meta.ts";
import {
  isAlreadyExists,
  KubeError,
  Namespace,
  refOf,
  typeMeta,
  unlessGone,
  type CustomResourceDefinition,
  type PersistentVolume,
  type KubeClient,
  type ResourceType,
} from "../../kube/index.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import { isSpared } from "./spared.ts";

/** A kind, and how long, in seconds, its objects may take to go. */
export interface Graced extends ResourceType {
  readonly grace: number;
}

/** The outcome of a look at a kind: what is still there, in words, and what the API server refused to do about it. */
export interface Removal {
  readonly left: readonly string[];
  readonly refusal?: string;
}

/**
 * Deletes the users' objects of a kind. What the API server refuses, because a webhook, a policy or a conversion is in its way, keeps the
 * others from nothing. Throws when the server does not answer at all.
 */
export async function removeUsers(shootClient: KubeClient, type: Graced): Promise<Removal> {
  if (!type.verbs.includes("list") || !type.verbs.includes("delete")) return { left: [] };
  const refusals: string[] = [];
  const attempt = async <T>(work: Promise<T>): Promise<T | undefined> => {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof KubeError) || error.status === 0) throw error;
      refusals.push(error.message);
      return undefined;
    }
  };
  const objects = (await attempt(unlessGone(usersObjects(shootClient, type)))) ?? []; // one whose definition went meanwhile has nothing left
  const overdue = objects.filter((object) => isOverdue(object, type.grace));
  for (const object of overdue) if (refusals.length < MOST_REFUSALS) await attempt(free(shootClient, object));
  for (const object of objects) if (refusals.length < MOST_REFUSALS) await attempt(ask(shootClient, object));
  // What a namespace still holds by then stands for nothing outside of the cluster.
  const left = type.kind === "Namespace" ? objects.filter((object) => !overdue.includes(object)) : objects;
  const names = left.map(
    ({ metadata }) => `${type.kind} ${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}`,
  );
  const [refusal] = refusals;
  if (refusal === undefined) return { left: names };
  return { left: [...names, `${type.kind}, of which the API server says: ${refusal}`], refusal };
}

/** How many objects of a kind are tried in one look while each is refused. */
const MOST_REFUSALS = 5;

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

/** What is kept of volumes: whether their disks go with their claims. */
export const ofVolumes = {
  most,
  keep: ({ spec: { persistentVolumeReclaimPolicy, claimRef }, ...volume }: PersistentVolume): PersistentVolume => ({
    ...briefly(volume),
    spec: omitUndefined({ persistentVolumeReclaimPolicy, claimRef: claimRef && {} }),
  }),
};

/** What is kept of definitions: whose they are, and how their versions are converted. */
export const ofDefinitions = {
  most,
  keep: ({ spec, ...definition }: CustomResourceDefinition): CustomResourceDefinition => ({
    ...withLabels(definition),
    spec: {
      group: spec.group,
      names: { kind: spec.names.kind },
      ...(spec.conversion && { conversion: { strategy: spec.conversion.strategy } }),
    },
  }),
};

const ofApis = {
  most,
  keep: (api: KubeObject): KubeObject => {
    const { service } = (api["spec"] ?? {}) as { service?: unknown };
    return { ...withLabels(api), spec: service === undefined ? {} : { service: {} } };
  },
};

/** Whether an object has been told to go for longer than its grace, in seconds. */
export function isOverdue({ metadata: { deletionTimestamp } }: KubeObject, grace: number): boolean {
  return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) + grace * 1_000 <= Date.now();
}

/** Has the object deleted by those who act on it; once is enough. */
export async function ask(shootClient: KubeClient, object: KubeObject): Promise<void> {
  const { deletionTimestamp, uid } = object.metadata;
  if (deletionTimestamp !== undefined) return;
  await shootClient.remove(refOf(object), {
    propagationPolicy: "Background",
    ...(uid === undefined ? {} : { uid }),
  });
}

/** Lets the object go without those who hold it: its finalizers, or for a pod its node's kubelet. A later object of its name stays as it is. */
export async function free(shootClient: KubeClient, object: KubeObject): Promise<void> {
  const { finalizers = [], uid = "" } = object.metadata;
  if (finalizers.length > 0) {
    const release = () => unlessGone(shootClient.patch(refOf(object), { metadata: { uid, finalizers: null } }));
    if ((await release()) === undefined && (await restoreNamespace(shootClient, object))) await release();
  } else if (object.kind === "Pod") await shootClient.remove(refOf(object), { gracePeriodSeconds: 0, uid });
}

/**
 * Creates the object's namespace again where it was removed by force, before what it held: the API server refuses all changes of that,
 * and answers as for an object that is gone. The namespace ends with those of the users. Returns false where the object is gone itself.
 */
async function restoreNamespace(shootClient: KubeClient, object: KubeObject): Promise<boolean> {
  const { namespace: name } = object.metadata;
  if (name === undefined || (await shootClient.read(refOf(object))) === undefined) return false;
  await shootClient.create({ ...typeMeta(Namespace), metadata: { name } }).catch(unlessThere);
  return true;
}

function unlessThere(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}
