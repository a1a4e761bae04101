import { join } from "node:path";
import { BACKUP_PLACE } from "../../api/names.ts";
import { BACKUP_BUNDLE, components, type ControlPlaneContext } from "../../components/index.ts";
import { ensureBundleKeys } from "../../etcd-data/bundle-keys.ts";
import {
  BundleError,
  bundleOf,
  bundleSecret,
  isCurrentBundle,
  openBundle,
  sealBundle,
  type Bundle,
} from "../../etcd-data/bundle.ts";
import type { StoreAccess } from "../../etcd-data/store.ts";
import { encodeData, Secret, typeMeta, type KubeClient } from "../../kube/index.ts";
import type { Configuration } from "../configuration/configuration.ts";
import { NAMESPACE } from "../cluster/control-plane.ts";
import { OperatorError } from "../steps/fault.ts";
import { backupAccessOf } from "../configuration/backup.ts";
import { keepBackupAccess } from "../machine/backup-access.ts";
import { providedAccess } from "./backup-entry.ts";
import { applyAll } from "../cluster/apply-all.ts";
import { isThere } from "../machine/is-there.ts";

/** What backups are made from. */
export interface BackupDeps {
  readonly client: KubeClient;
  readonly configuration: Configuration;
  /** The folder that is the machine's `/`. */
  readonly root: string;
  /** An extension provides the place: it has made the Secret by which the cluster reaches it. */
  readonly isProvided?: boolean;
}

/** The operator's keys, which seal what a restore needs: hidden, so that they are no part of the configuration, and in its folder, which the operator keeps. */
export const bundleKeyFile = (folder: string): string => join(folder, ".backup-keys.json");

/**
 * Has the cluster take snapshots of its etcd, each with the sealed bundle beside it; leaves on this machine, for root, how its
 * agent reaches them. Throws an OperatorError where the folder has not got the keys that earlier backups were sealed with.
 */
export async function deployEtcdBackup(
  { client, configuration, root, isProvided = false }: BackupDeps,
  context: ControlPlaneContext,
): Promise<void> {
  const access = isProvided ? await providedAccess(client, context) : backupAccessOf(configuration);
  if (access === undefined) throw new Error("the Shoot asks for no backup");
  const { name, namespace, uid = "" } = context.shoot.metadata;
  const secrets = await client.list(Secret, { namespace: NAMESPACE });
  const bundle = bundleOf({
    ...{ secrets, configuration: configuration.objects },
    shoot: { name, namespace: namespace ?? "", uid },
  });
  const sealed = secrets.find(({ metadata }) => metadata.name === BACKUP_BUNDLE.name)?.data?.[BACKUP_BUNDLE.key];
  await deployBundle(client, bundle, {
    file: bundleKeyFile(configuration.folder),
    ...(sealed !== undefined && { sealed: Buffer.from(sealed, "base64") }),
  });
  if (!isProvided) await applyPlace(client, access);
  await applyAll(client, components["etcd-backup"].objects(context));
  await keepBackupAccess(root, { ...access, uid });
}

async function applyPlace(client: KubeClient, { secret }: StoreAccess): Promise<void> {
  const metadata = { name: BACKUP_PLACE, namespace: NAMESPACE };
  await client.apply<Secret>({ ...typeMeta(Secret), metadata, data: encodeData(secret) });
}

/** What is sealed already by the newest key, and says the same, stays. */
async function deployBundle(
  client: KubeClient,
  bundle: Bundle,
  { file, sealed }: { readonly file: string; readonly sealed?: Buffer },
): Promise<void> {
  const remedy = `put the file that backups were sealed with to ${file}; or, where it is lost, delete Secret ${NAMESPACE}/${BACKUP_BUNDLE.name}, to begin with a new key: earlier backups cannot be opened then`;
  if (sealed !== undefined && !(await isThere(file)))
    throw new OperatorError(`the key of the backups is not in ${file}: ${remedy}`);
  const keys = await ensureBundleKeys(file);
  if (sealed !== undefined) {
    if (isCurrentBundle(sealed, bundle, keys)) return;
    refuseOthers(() => openBundle(sealed, keys), remedy);
  }
  await client.apply(bundleSecret(sealBundle(bundle, keys)));
}

function refuseOthers(open: () => void, remedy: string): void {
  try {
    open();
  } catch (error) {
    if (!(error instanceof BundleError)) throw error;
    throw new OperatorError(`${error.message}; ${remedy}`, { cause: error });
  }
}
