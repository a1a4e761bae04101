import type { KubeObject } from "../../api/schema/meta.ts";
import { Node, refTo, type KubeClient } from "../../kube/index.ts";

/** Whether the cluster has heard nothing of a node for too long: its machine is off, or cut off. */
export const isSilent = ({ status }: Node): boolean =>
  status?.conditions?.some((one) => one.type === "Ready" && one.status === "Unknown") === true;

/**
 * Reads as the client does, but a DaemonSet wants no pods on nodes that are silent: a machine that is off holds up no roll-out. Pods of
 * such nodes count as not ready.
 */
export function withoutSilentNodes(client: Pick<KubeClient, "read" | "list">): Pick<KubeClient, "read"> {
  const read = async (ref: Parameters<KubeClient["read"]>[0]) => {
    const object = await client.read(ref);
    if (object?.kind !== "DaemonSet") return object;
    const silent = (await client.list(Node)).filter(isSilent).length;
    return silent === 0 ? object : wantingLess(object, silent);
  };
  return { read: read as KubeClient["read"] };
}

function wantingLess(object: KubeObject, by: number): KubeObject {
  const status = (object.status ?? {}) as Readonly<Record<string, unknown>> & {
    readonly desiredNumberScheduled?: number;
  };
  const desiredNumberScheduled = Math.max(0, (status.desiredNumberScheduled ?? 0) - by);
  return { ...object, status: { ...status, desiredNumberScheduled } };
}

/**
 * Has the cluster say of all nodes but this one that it has heard nothing of them, as where their kubelets have no way to it: what it says
 * is of the time of a backup. A kubelet that has a way says otherwise within seconds.
 */
export async function doubtOtherNodes(client: KubeClient, hostName: string, now: Date): Promise<void> {
  const since = now.toISOString();
  const ready = {
    ...{ type: "Ready", status: "Unknown", lastHeartbeatTime: since, lastTransitionTime: since },
    ...{ reason: "NodeStatusUnknown", message: "not heard of since the control plane was restored" },
  };
  for (const { metadata, status } of await client.list(Node)) {
    if (metadata.name === hostName) continue;
    const conditions = [...(status?.conditions ?? []).filter(({ type }) => type !== "Ready"), ready];
    await client.patch(refTo(Node, { name: metadata.name }), { status: { conditions } }, { subresource: "status" });
  }
}
