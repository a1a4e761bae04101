import { createExtensionController } from "../../src/extension/index.ts";
import { Secret, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";

/**
 * An extension of a vendor that makes buckets and the clusters' parts of them, of one type: it says of each that it is there, and
 * leaves for pods how this bucket is reached, `place` being the data of that Secret.
 */
export async function startBackupExtension(
  client: KubeClient,
  type: string,
  place: Readonly<Record<string, string>>,
): Promise<{ stop(): Promise<void> }> {
  const log = createLogger({ name: "test", level: "silent" });
  const nothing = async () => await Promise.resolve(undefined);
  const others = { restore: nothing, migrate: nothing, delete: nothing };
  const bucket = createExtensionController<"BackupBucket">({
    ...{ client, log, kind: "BackupBucket", type },
    actuator: { reconcile: nothing, ...others },
  });
  const entry = createExtensionController<"BackupEntry">({
    ...{ client, log, kind: "BackupEntry", type },
    actuator: {
      reconcile: async () => {
        const metadata = { namespace: "kube-system", name: "etcd-backup" };
        await client.apply<Secret>({ ...typeMeta(Secret), metadata, data: place });
        return {};
      },
      ...others,
    },
  });
  const parts = [bucket, entry];
  for (const part of parts) part.start();
  await Promise.all(parts.map(async (part) => await part.synced()));
  return { stop: async () => void (await Promise.all(parts.map(async (part) => await part.stop()))) };
}
