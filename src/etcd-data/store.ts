import { findObjectStore, objectStoreProviders } from "../api/object-stores.ts";
import { BUCKET_KEY, filledEnvironment, storeSecretKeys } from "../components/index.ts";
import { createRclone, type Run } from "../node-agent/commands.ts";

/** A bucket with snapshots, as a machine reaches it. */
export interface SnapshotStore {
  readonly rclone: Run;
  /** The bucket, in rclone's words. */
  readonly bucket: string;
}

/** Where a bucket is: its provider, and the content of a Secret as `etcd-backup` has it, as text. */
export interface StoreAccess {
  readonly provider: string;
  readonly secret: Readonly<Record<string, string>>;
}

/** The bucket. Throws which provider or key is wrong, and quotes no value; no credential is on a command line or in a file. */
export function openStore({ provider, secret }: StoreAccess, program?: string): SnapshotStore {
  const store = findObjectStore(provider);
  if (store === undefined)
    throw new Error(
      `cannot reach backups: provider ${provider} is no object store; write ${objectStoreProviders.join(", ")}`,
    );
  const missing = storeSecretKeys(store).filter((key) => (secret[key] ?? "") === "");
  if (missing.length > 0)
    throw new Error(`cannot reach backups: the Secret of the store has no ${missing.join(", ")}: add it`);
  return {
    rclone: createRclone(program, { environment: filledEnvironment(store, secret) }),
    bucket: `store:${secret[BUCKET_KEY]}`,
  };
}
