import { EPOCH_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import {
  isConflict,
  isNotFound,
  KubeError,
  refOf,
  type JsonPatchOperation,
  type KubeClient,
  type MergePatch,
  type ObjectRef,
  type PatchOptions,
  type RemoveAllOptions,
  type RemoveOptions,
  type Selection,
  type TypeRef,
} from "../../kube/index.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import { Superseded } from "../superseded.ts";

/** For which Shoot, and under which number, is written. */
export type Epoch = Pick<ShootRun, "technicalID" | "epoch">;

/**
 * The client with the run's epoch on every write into the Shoot's namespace, into the namespace itself and what else of
 * the Shoot is in no namespace. The seed's admission policies (deploy/seed/fencing.yaml) refuse it once a later epoch has
 * begun there, however long the write was under way: that is then a {@link Superseded}. Other writes are left alone.
 */
export function fenced(client: KubeClient, run: Epoch): KubeClient {
  const stamp = { [EPOCH_ANNOTATION]: String(run.epoch) };
  const isOurs = (ref: ObjectRef) => belongsTo(ref, run.technicalID);
  const stamped = <T extends KubeObject>(object: T): T => {
    if (!isOurs(refOf(object))) return object;
    return {
      ...object,
      metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...stamp } },
    };
  };

  /** Writes the epoch into the object as it is; with an identity, only into that very object. */
  const mark = (ref: ObjectRef, identity: Identity = {}) =>
    refusable(client.patch(ref, { metadata: { ...identity, annotations: stamp } }));

  /** Subresources take no annotations; the policies go by those that their object has. */
  const markOf = async <T extends KubeObject>(object: T): Promise<T> => {
    if (!isOurs(refOf(object))) return object;
    const { uid, resourceVersion } = object.metadata;
    const { metadata } = await mark(refOf(object), omitUndefined({ uid, resourceVersion }));
    if (resourceVersion === undefined) return object;
    return { ...object, metadata: { ...object.metadata, resourceVersion: metadata.resourceVersion } };
  };

  async function patch<T extends KubeObject>(ref: ObjectRef<T>, patch: Patch, o: PatchOptions = {}): Promise<T> {
    if (!isOurs(ref)) return client.patch(ref, patch, o);
    if (o.subresource === "scale") throw new Error(`cannot scale ${ref.kind} ${ref.name} so: patch spec.replicas`);
    if (isOperations(patch)) {
      await mark(ref); // there have to be annotations to which one can be added
      const path = `/metadata/annotations/${EPOCH_ANNOTATION.replace("/", "~1")}`;
      const epoch = { op: "add", path, value: String(run.epoch) } as const;
      return refusable(client.patch(ref, o.subresource === undefined ? [...patch, epoch] : patch, o));
    }
    const { annotations, ...metadata } = (patch["metadata"] ?? {}) as Identity & { annotations?: object };
    if (o.subresource === undefined)
      return refusable(
        client.patch(ref, { ...patch, metadata: { ...metadata, annotations: { ...annotations, ...stamp } } }, o),
      );
    const { uid, resourceVersion } = metadata;
    const marked = await mark(ref, omitUndefined({ uid, resourceVersion }));
    const version = resourceVersion === undefined ? {} : { resourceVersion: marked.metadata.resourceVersion };
    return refusable(client.patch(ref, { ...patch, metadata: { ...metadata, ...version } }, o));
  }

  /**
   * Writes the epoch into the object and then deletes exactly what was written: a deletion that comes late meets another
   * version, or a fence that is higher than what the object says.
   */
  const removeVersion = async (ref: ObjectRef, version: string | undefined, o: RemoveOptions): Promise<void> => {
    const { uid, resourceVersion } = (await mark(ref, omitUndefined({ resourceVersion: version }))).metadata;
    await refusable(client.remove(ref, { ...o, ...omitUndefined({ uid, resourceVersion }) }));
  };

  async function remove(ref: ObjectRef, o: RemoveOptions = {}): Promise<void> {
    if (!isOurs(ref)) return client.remove(ref, o);
    for (let attempt = 1; ; attempt += 1) {
      const existing = await client.read(ref);
      if (existing === undefined) return;
      // Another object of that name is not ours to write into; the server says so best.
      if (o.uid !== undefined && existing.metadata.uid !== o.uid) return client.remove(ref, o);
      try {
        return await removeVersion(ref, o.resourceVersion ?? existing.metadata.resourceVersion, o);
      } catch (error) {
        if (isNotFound(error)) return;
        if (!isLostRace(error, o) || attempt === MOST_ATTEMPTS) throw error;
      }
    }
  }

  return {
    ...client,
    apply: (object, o) => refusable(client.apply(stamped(object), o)),
    create: (object, o) => refusable(client.create(stamped(object), o)),
    replace: (object) => refusable(client.replace(stamped(object))),
    applyStatus: async (object, o) => refusable(client.applyStatus(await markOf(object), o)),
    replaceStatus: async (object) => refusable(client.replaceStatus(await markOf(object))),
    patch,
    remove,
    async removeAll(
      type: TypeRef,
      { namespace, labelSelector, fieldSelector, ...options }: Selection & RemoveAllOptions,
    ) {
      const selection = omitUndefined({ namespace, labelSelector, fieldSelector });
      if (namespace !== run.technicalID) return client.removeAll(type, { ...selection, ...options });
      for (const object of await client.list(type, selection)) {
        await remove(refOf(object), { ...options, ...omitUndefined({ uid: object.metadata.uid }) });
      }
    },
  };
}

/** Whether a later epoch has begun where this was to be written. */
export function isFenced(error: unknown): error is KubeError {
  return (
    error instanceof KubeError &&
    error.status === 403 &&
    /ValidatingAdmissionPolicy 'perennial-fence-/.test(error.message)
  );
}

type Patch = MergePatch | readonly JsonPatchOperation[];

/** Which object, in which version, is meant. */
interface Identity {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

const MOST_ATTEMPTS = 10;

/** What is a Shoot's in a seed: its namespace and all that is in it, and by their names its Cluster and BackupEntries. */
function belongsTo({ kind, namespace, name }: ObjectRef, technicalID: string): boolean {
  if (namespace !== undefined) return namespace === technicalID;
  if (kind === "BackupEntry") return name.replace(/^source-/, "").startsWith(`${technicalID}--`);
  return (kind === "Namespace" || kind === "Cluster") && name === technicalID;
}

async function refusable<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (isFenced(error)) throw new Superseded(error.message, [], { cause: error });
    throw error;
  }
}

/** Controllers write at the same time, but not forever. A version that the caller named is not tried again. */
const isLostRace = (error: unknown, { resourceVersion }: RemoveOptions): boolean =>
  isConflict(error) && resourceVersion === undefined;

const isOperations = (patch: Patch): patch is readonly JsonPatchOperation[] => Array.isArray(patch);
