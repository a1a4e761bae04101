import type { KubeObject } from "../../src/api/index.ts";
import { inWords, KubeError, refOf, type KubeClient, type ObjectRef } from "../../src/kube/index.ts";

/** An API server as far as reads, lists, creations, merge patches and deletions go; what a test looks at is what is left in it. */
export function keepObjects(...first: readonly KubeObject[]) {
  const objects = new Map(first.map((object) => [inWords(refOf(object)), object]));
  const found = (ref: ObjectRef, uid: unknown): KubeObject => {
    const object = objects.get(inWords(ref));
    if (object === undefined) throw refusal(404, "NotFound");
    if (uid !== undefined && uid !== object.metadata.uid) throw refusal(409, "Conflict");
    return object;
  };
  const client = {
    async read(ref: ObjectRef, { name, namespace }: Pick<ObjectRef, "name" | "namespace"> = ref) {
      return objects.get(inWords({ ...ref, name, ...(namespace && { namespace }) }));
    },
    async list({ kind }: ObjectRef, { namespace, labelSelector = "" }: Selected = {}) {
      const [label = "", value] = labelSelector.split("=");
      return [...objects.values()].filter(
        (one) =>
          one.kind === kind &&
          (namespace === undefined || one.metadata.namespace === namespace) &&
          (label === "" || one.metadata.labels?.[label] === value),
      );
    },
    async *metadata(ref: ObjectRef, selected: Selected = {}) {
      for (const { apiVersion, kind, metadata } of await client.list(ref, selected))
        yield { apiVersion, kind, metadata };
    },
    async create(object: KubeObject) {
      if (objects.has(inWords(refOf(object)))) throw refusal(409, "AlreadyExists");
      objects.set(inWords(refOf(object)), object);
      return object;
    },
    async patch(ref: ObjectRef, patch: { readonly metadata?: { readonly uid?: string } }) {
      const merged = merge(found(ref, patch.metadata?.uid), patch) as KubeObject;
      objects.set(inWords(ref), merged);
      return merged;
    },
    async remove(ref: ObjectRef, { uid }: { readonly uid?: string } = {}) {
      found(ref, uid);
      objects.delete(inWords(ref));
    },
  } as unknown as KubeClient;
  return { client, objects };
}

interface Selected {
  readonly namespace?: string;
  readonly labelSelector?: string;
}

const refusal = (status: number, reason: string) =>
  new KubeError(`the test's API server: ${reason}`, { status, reason, retryable: false });

/** RFC 7386. */
function merge(present: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch;
  const merged: Record<string, unknown> = isMap(present) ? { ...present } : {};
  for (const [key, value] of Object.entries(patch))
    if (value === null) delete merged[key];
    else if (value !== undefined) merged[key] = merge(merged[key], value);
  return merged;
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
