import { ETCD_DAMAGED } from "../../api/shoot/etcd-damage.ts";
import { ETCDS, type EtcdRole } from "../../components/index.ts";
import type { Readiness } from "../waits/readiness.ts";
import { findEtcdVerdict, type EtcdReader } from "./findings.ts";
import type { LogVerdict } from "./log-verdict.ts";

/** An etcd that is not ready, as the StatefulSet says. */
export interface UnreadyEtcds {
  readonly seedClient: EtcdReader;
  readonly namespace: string;
  readonly roles: readonly EtcdRole[];
  /** Whether the Shoot is backed up. */
  readonly hasBackup: boolean;
}

/** Whether the data of the etcds that are not ready keep them from starting: which, why, and what helps. */
export async function dataReadiness({ seedClient, namespace, roles, hasBackup }: UnreadyEtcds): Promise<Readiness> {
  const faults: { readonly reason: string; readonly message: string }[] = [];
  for (const role of ETCDS.filter((one) => roles.includes(one))) {
    const verdict = await findEtcdVerdict(seedClient, namespace, role);
    if (verdict !== undefined) faults.push(faultOf(role, verdict, hasBackup));
  }
  if (faults.length === 0) return { reached: true };
  const reason = faults.find((one) => one.reason === ETCD_DAMAGED)?.reason ?? faults[0]?.reason;
  const message = faults.map((one) => one.message).join("; ");
  return { reached: false, message, ...(reason !== undefined && { reason }) };
}

function faultOf(role: EtcdRole, { state, why }: LogVerdict, hasBackup: boolean) {
  const name = `etcd-${role}`;
  if (state === "full")
    return {
      reason: "EtcdVolumeFull",
      message: `The volume of ${name} is full (${why}): make it larger or make room, see runbook etcd-full`,
    };
  if (state === "unreadable")
    return {
      reason: "EtcdVolumeUnreadable",
      message: `The volume of ${name} cannot be read (${why}): repair the disk, or have its data replaced, see runbook etcd-data-damaged`,
    };
  const found = `The data of ${name} are ${state} (${why})`;
  if (role === "events")
    return {
      reason: ETCD_DAMAGED,
      message: `${found}: an operation starts automatically and replaces them with an empty database`,
    };
  if (hasBackup)
    return {
      reason: ETCD_DAMAGED,
      message: `${found}: an operation starts automatically and restores the newest good snapshot`,
    };
  return {
    reason: "EtcdDataLost",
    message: `${found}, and the Seed has no backups: nothing is changed automatically, see runbook etcd-data-damaged`,
  };
}
