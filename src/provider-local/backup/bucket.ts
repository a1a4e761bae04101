import type { ExtensionBackupBucket } from "../../api/index.ts";
import type { Actuator } from "../../extension/index.ts";
import type { Buckets } from "./buckets.ts";

/** The bucket of a Seed's backups: a directory of its name. One that still holds something is not deleted. */
export function createBackupBucketActuator(buckets: Buckets): Actuator<ExtensionBackupBucket, undefined> {
  const reconcile = async ({ metadata: { name } }: ExtensionBackupBucket) => {
    await buckets.createBucket(name);
  };
  return {
    reconcile,
    restore: reconcile,
    migrate: async () => undefined,
    delete: async ({ metadata: { name } }) => await buckets.removeBucket(name),
  };
}
