import type { KubeObject } from "../../api/index.ts";
import type { ObjectStore } from "../../api/object-stores.ts";
import { backupPlace, sourcePlace } from "./backup-place.ts";
import { job, pod } from "./backup-pod.ts";
import type { ControlPlaneContext } from "../context.ts";
import { verifyStep } from "./step.ts";

/** What is brought to the Seed's own bucket. */
export interface CopySource {
  /** The snapshot's file among the Shoot's backups. */
  readonly snapshot: string;
  /** The store that it is in. */
  readonly store: ObjectStore;
}

/**
 * Copies a snapshot from another Seed's bucket, which is only read, by way of the pod: one that cannot be read is not passed
 * on, and no container holds the credentials of both. Their Secrets are made by the controllers of BackupEntries; each container
 * starts when its own is there.
 */
export function copyJob(context: ControlPlaneContext, name: string, { snapshot, store }: CopySource): KubeObject {
  const source = sourcePlace(context, store);
  const own = backupPlace(context);
  const steps = [...source.fetch(snapshot), verifyStep(context, snapshot), ...own.keep(snapshot)];
  return job(context, name, { backoffLimit: 2, ttlSecondsAfterFinished: 3600, template: pod([own.volume()], steps) });
}
