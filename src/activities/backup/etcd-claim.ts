import { RESTORED_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { PersistentVolumeClaim, refTo } from "../../kube/index.ts";

/** The claim of a Shoot's etcd-main. */
export const claimRef = ({ technicalID: namespace }: ShootRun) =>
  refTo(PersistentVolumeClaim, { namespace, name: "main-etcd-etcd-main-0" });

/**
 * Whether etcd may start from it as it is. A takeover may begin after a planned migration got stuck: what was restored
 * under an earlier epoch, in the seed that leads, is the newest there is. A planned one begins with a namespace of its own.
 */
export function isFinished(claim: KubeObject | undefined, { epoch, migration }: ShootRun): boolean {
  const restored = claim?.metadata.annotations?.[RESTORED_ANNOTATION];
  if (restored === undefined) return false;
  return migration?.takeover === true ? Number(restored) <= epoch : restored === String(epoch);
}
