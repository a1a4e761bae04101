import { defineFlow } from "../../flow/flow.ts";
import { rowsWith, type Row } from "../steps/row.ts";

/** What is done on the survivor of a control plane besides what `init` does. */
export type MemberRestoreAction =
  "quorum" | "stopped" | "etcdData" | "etcd" | "kubeApiServer" | "adopted" | "staleObjects" | "nodeAgent";

type Action = MemberRestoreAction | "turn";

const row = rowsWith<Action>();

/**
 * Makes a control plane of one node out of a member whose etcds have lost their quorum, with all that it has. Members that come
 * back later belong to another cluster: they are wiped, and join.
 */
// prettier-ignore
export const restoreFromMember = defineFlow<undefined, Row<Action>, Action>("Restore the control plane from its survivor", {
  quorum: row("quorum", "asks the other members whether they answer, and refuses where quorum is there or may come back"),
  stopped: row("stopped", "stops agent and kubelet, takes the manifests of the control plane away, and ends both etcds", "quorum"),
  etcdData: row("etcdData", "makes both etcds clusters of this member alone, with all that is in their logs", "stopped"),
  etcd: row("etcd", "puts the manifests back, starts the kubelet, and waits for both etcds", "etcdData"),
  kubeApiServer: row("kubeApiServer", "waits for the API server", "etcd"),
  adopted: row("adopted", "sees that it is the configuration's Shoot, and notes its uid", "kubeApiServer"),
  turn: row("turn", "waits until no node joins, and no other command changes the control plane", "adopted"),
  staleObjects: row("staleObjects", "takes away what the cluster knows of machines that are gone", "turn"),
  nodeAgent: row("nodeAgent", "starts the agent", "staleObjects"),
});
