import { backupMount, BUNDLE_SUFFIX, type BackupPlace } from "./backup-place.ts";
import type { Step } from "./backup-pod.ts";
import type { ControlPlaneContext } from "../context.ts";
import { rclone } from "./rclone.ts";

/** The Secret, and its key, with the sealed bundle that is to lie beside each snapshot of a self-hosted Shoot. */
export const BACKUP_BUNDLE = { name: "etcd-backup-bundle", key: "bundle" } as const;

/** The bundle, for {@link bundleSteps}: their pod starts when it is there. */
export const bundleVolumes = [{ name: "bundle", secret: { secretName: BACKUP_BUNDLE.name, defaultMode: 0o440 } }];

/** Brings the bundle to where the snapshot will be, under the snapshot's name: before it, so that none is there without one. */
export function bundleSteps({ images }: ControlPlaneContext, { place, snapshot, env }: SnapshotToBe): Step[] {
  const file = `${snapshot}${BUNDLE_SUFFIX}`;
  // A Secret's files are links.
  const command = rclone(["copyto", `/bundle/${BACKUP_BUNDLE.key}`, `/backup/${file}`], { "copy-links": true });
  const volumeMounts = [backupMount(), { name: "bundle", mountPath: "/bundle", readOnly: true }];
  return [{ name: "bundle", image: images.rclone, command, volumeMounts, env }, ...place.keep(file, env, "-bundle")];
}

interface SnapshotToBe {
  readonly place: BackupPlace;
  /** Its file's name; `env` has the variables that are in it. */
  readonly snapshot: string;
  readonly env: readonly object[];
}
