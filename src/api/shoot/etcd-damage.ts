import type { Condition } from "../schema/meta.ts";

/** The reason of `ControlPlaneHealthy` while data of an etcd are damaged or gone, and an operation can restore or replace them. */
export const ETCD_DAMAGED = "EtcdDataDamaged";

/** Returns since when (RFC 3339) a Shoot's status has reported damaged data of an etcd; undefined where it does not. */
export function etcdDamagedSince(
  status: { readonly conditions?: readonly Condition[] | undefined } = {},
): string | undefined {
  const condition = status.conditions?.find(({ type }) => type === "ControlPlaneHealthy");
  return condition?.reason === ETCD_DAMAGED && condition.status !== "True" ? condition.lastUpdateTime : undefined;
}
