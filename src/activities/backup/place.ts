import { BACKUP_PLACE } from "../../api/names.ts";
import { storeOf, storeSecretKeys, type ControlPlaneContext } from "../../components/index.ts";
import { PersistentVolumeClaim, Secret, type KubeClient } from "../../kube/index.ts";
import { StepError } from "../step-error.ts";

/**
 * Makes sure that pods in the Shoot's namespace can reach its backups, through what the controller of its BackupEntry has
 * made there: a claim, or a Secret where the bucket is in an object store. Throws a {@link StepError} that names what is missing:
 * a BackupEntry that has succeeded does not say so.
 */
export async function checkBackupPlace(seedClient: KubeClient, context: ControlPlaneContext): Promise<void> {
  const missing = await findMissing(seedClient, context);
  if (missing !== undefined)
    throw new StepError(
      `cannot reach the backups of etcd-main of ${context.namespace}: its BackupEntry has succeeded, but ${missing}`,
    );
}

async function findMissing(seedClient: KubeClient, context: ControlPlaneContext): Promise<string | undefined> {
  const key = { namespace: context.namespace, name: BACKUP_PLACE };
  const store = storeOf(context);
  if (store === undefined) {
    const claim = await seedClient.read(PersistentVolumeClaim, key);
    return claim === undefined ? `there is no PersistentVolumeClaim ${BACKUP_PLACE}` : undefined;
  }
  const secret = await seedClient.read(Secret, key);
  if (secret === undefined) return `there is no Secret ${BACKUP_PLACE}`;
  const absent = storeSecretKeys(store).filter((one) => !secret.data?.[one]);
  return absent.length === 0 ? undefined : `Secret ${BACKUP_PLACE} lacks ${absent.join(", ")}`;
}
