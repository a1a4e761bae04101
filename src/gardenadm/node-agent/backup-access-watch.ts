import type { KubeClient } from "../../kube/client.ts";
import type { Logger } from "../../log.ts";
import { askBackupAccess } from "../cluster/backup-access.ts";
import { forgetBackupAccess, keepBackupAccess } from "../machine/backup-access.ts";
import { createBell } from "./bell.ts";
import { dutyTiming, keepLooking } from "./keep-looking.ts";

/** The cluster, and the node whose machine is told. */
export interface BackupAccessDeps {
  /** With an administrator's rights. */
  readonly client: KubeClient;
  /** The folder that is the machine's `/`. */
  readonly root: string;
  readonly log: Logger;
}

/**
 * Keeps on this machine how the backups are reached, until it is stopped: when its etcd has lost its data, and it has become the only node,
 * there is no API server to ask. Where the cluster asks for no backups any more, old ones are not to be restored.
 */
export async function followBackupAccess({ client, root, log }: BackupAccessDeps, signal: AbortSignal): Promise<void> {
  const look = async () => {
    const access = await askBackupAccess(client);
    if (access === "none") await forgetBackupAccess(root);
    else if (access !== undefined) await keepBackupAccess(root, access);
    return "done" as const;
  };
  const failed = "way to the backups not kept on this machine";
  await keepLooking({ look, news: createBell(), log, failed, timing: dutyTiming() }, signal);
}
