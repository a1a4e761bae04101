import { ConfigMap, isConflict, refTo, typeMeta, type KubeClient, type NamespacedKey } from "../kube/index.ts";

/** The data of a ConfigMap, as of one version. */
export interface RecordVersion {
  readonly data: Readonly<Record<string, string>>;
  readonly resourceVersion: string | undefined;
}

/** A ConfigMap that several processes change by compare-and-swap. */
export interface BindingRecord {
  read(): Promise<RecordVersion>;
  /** Sets some keys, and removes those that are null; false if the object is no longer the version that was read. */
  swap(read: RecordVersion, change: Readonly<Record<string, string | null>>): Promise<boolean>;
}

/** The record in this ConfigMap, which is created empty when it is first written. */
export function createRecord(client: KubeClient, key: NamespacedKey): BindingRecord {
  const ref = refTo(ConfigMap, key);
  const versionOf = ({ data = {}, metadata }: ConfigMap): RecordVersion => ({
    data,
    resourceVersion: metadata.resourceVersion,
  });
  const read = async (): Promise<RecordVersion> => {
    const object = await client.read(ref);
    return object === undefined ? { data: {}, resourceVersion: undefined } : versionOf(object);
  };
  return {
    read,
    async swap({ resourceVersion }, data) {
      try {
        // An object without data has no field that two creators could overwrite: the first of them writes the data below.
        if (resourceVersion === undefined) {
          const created = versionOf(await client.apply({ ...typeMeta(ConfigMap), metadata: { ...key } }));
          if (Object.keys(created.data).length > 0) return false;
          resourceVersion = created.resourceVersion;
        }
        await client.patch(ref, { metadata: { resourceVersion }, data });
        return true;
      } catch (error) {
        if (isConflict(error)) return false;
        throw error;
      }
    },
  };
}
