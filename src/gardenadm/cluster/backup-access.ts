import { BACKUP_PLACE, SYSTEM_NAMESPACE } from "../../api/names.ts";
import { controlPlanePools } from "../../api/shoot/self-hosted.ts";
import type { KubeClient } from "../../kube/client.ts";
import { Secret } from "../../kube/kinds.ts";
import { decodeData } from "../../kube/secret-data.ts";
import type { BackupAccess } from "../machine/backup-access.ts";
import { shootAtHand } from "./shoot-at-hand.ts";

/** How the backups are reached, as the cluster tells its administrators; "none" where it asks for none, undefined where there is no way yet. */
export async function askBackupAccess(client: KubeClient): Promise<BackupAccess | "none" | undefined> {
  const shoot = await shootAtHand(client);
  if (shoot === undefined) return undefined;
  const provider = controlPlanePools(shoot)[0]?.controlPlane?.backup?.provider;
  if (provider === undefined) return "none";
  const { data } = (await client.read(Secret, { namespace: SYSTEM_NAMESPACE, name: BACKUP_PLACE })) ?? {};
  return data && { provider, secret: decodeData(data), uid: shoot.metadata.uid ?? "" };
}
