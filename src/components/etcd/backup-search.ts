import type { KubeObject } from "../../api/index.ts";
import type { ObjectStore } from "../../api/object-stores.ts";
import { backupPlace, ownBucket, sourcePlace } from "./backup-place.ts";
import { job, pod } from "./backup-pod.ts";
import type { ControlPlaneContext } from "../context.ts";
import { restoreStep, verifyStep } from "./step.ts";

/** Where a takeover looks for snapshots: in another Seed's bucket, in this store, or, where none is said, in the Seed's own. */
export interface SearchedPlace {
  readonly source?: ObjectStore | undefined;
}

/** Names the Shoot's snapshots in a bucket. Throws where the Seed's backups are in none and no other is said. */
export function listJob(context: ControlPlaneContext, name: string, { source }: SearchedPlace): KubeObject {
  const place = source === undefined ? ownBucket(context) : sourcePlace(context, source);
  if (place === undefined) throw new Error(`cannot list the backups of ${context.namespace}: they are in a claim`);
  return job(context, name, { ...SEARCH, template: pod([], place.list()) });
}

/**
 * Restores a snapshot into a folder that goes with the pod, which succeeds only with a file that is whole, and reads
 * beside that what the file holds.
 */
export function checkJob(
  context: ControlPlaneContext,
  name: string,
  { snapshot, source }: SearchedPlace & { readonly snapshot: string },
): KubeObject {
  const place = source === undefined ? backupPlace(context) : sourcePlace(context, source);
  const volumes = [place.volume({ readOnly: true }), { name: "data", emptyDir: {} }];
  const steps = [...place.fetch(snapshot), restoreStep(context, snapshot, { volume: "data" })];
  return job(context, name, { ...SEARCH, template: pod(volumes, steps, [verifyStep(context, snapshot)]) });
}

/** The flow tells why one has failed before it tries again. */
const SEARCH = { backoffLimit: 0, ttlSecondsAfterFinished: 3600 };
