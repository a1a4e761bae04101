import { Shoot } from "../api/index.ts";
import { shootUidOfBackupEntry } from "../api/extensions/backup-entry.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import type { KubeClient } from "../kube/index.ts";
import { identityOf } from "./metadata.ts";
import { judge, type Webhook } from "./review.ts";

/**
 * Refuses to delete what a Shoot lives by: its leadership record, without which its control plane stops when its lease is over, and the entry of
 * its backups, which cannot be called back from a deletion. Both go with the Shoot.
 */
export function createLivedByValidator({ client }: { readonly client: KubeClient }): Webhook {
  return async ({ oldObject }) => {
    const uid = oldObject && shootUidOf(oldObject);
    const { namespace } = identityOf(oldObject);
    if (uid === undefined || namespace === undefined) return judge([]);
    for await (const { metadata } of client.metadata(Shoot, { namespace })) {
      if (metadata.uid !== uid || metadata.deletionTimestamp !== undefined) continue;
      const message = `Shoot ${namespace}/${metadata.name} lives by the object: delete the Shoot, with which it goes`;
      return judge([{ field: "metadata.name", message, forbidden: true }]);
    }
    return judge([]);
  };
}

/** The uid of the Shoot that an object belongs to, from what seeds cannot write. */
function shootUidOf(object: KubeObject): string | undefined {
  const { name = "", ownerReferences } = identityOf(object);
  if (object.kind === "BackupEntry") return shootUidOfBackupEntry(name);
  return ownerReferences.find((owner) => owner.kind === "Shoot")?.uid;
}
