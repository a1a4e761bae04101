import { ETCD_DAMAGED_ANNOTATION, RESTORED_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { etcdClaimName, type EtcdRole } from "../../components/index.ts";
import { PersistentVolumeClaim, refTo } from "../../kube/index.ts";

/** The claim of an etcd of this namespace. */
export const etcdClaimRef = (namespace: string, role: EtcdRole) =>
  refTo(PersistentVolumeClaim, { namespace, name: etcdClaimName(role) });

/** The claim of a Shoot's etcd-main. */
export const claimRef = ({ technicalID }: ShootRun) => etcdClaimRef(technicalID, "main");

/** Why the data of the etcd with this claim are to be replaced; undefined where they are not. */
export const damageOn = (claim: KubeObject | undefined): string | undefined =>
  claim?.metadata.annotations?.[ETCD_DAMAGED_ANNOTATION];

/**
 * Whether etcd may start from it as it is. A takeover may begin after a planned migration got stuck: what was restored
 * under an earlier epoch, in the seed that leads, is the newest there is. A planned one begins with a namespace of its own.
 */
export function isFinished(claim: KubeObject | undefined, { epoch, migration }: ShootRun): boolean {
  const restored = claim?.metadata.annotations?.[RESTORED_ANNOTATION];
  if (restored === undefined) return false;
  return migration?.takeover === true ? Number(restored) <= epoch : restored === String(epoch);
}
