import { defineFlow } from "../../flow/flow.ts";
import { rowsWith, type Row } from "../steps/row.ts";

/** What is done on the first machine of a control plane, in the words of GEP-28. */
export type StartAction =
  | "preflight"
  | "config"
  | "secrets"
  | "machineConfig"
  | "machine"
  | "controllers"
  | "kubelet"
  | "etcd"
  | "kubeApiServer"
  | "kubeControllerManager"
  | "kubeScheduler"
  | "node"
  | "imported"
  | "turn";

/** What of the machine decides which steps are done. */
export interface StartRun {
  /** The API server has what there was before it: from then on, the machine's agent changes it as the cluster says. */
  readonly imported: boolean;
}

const row = rowsWith<StartAction>();

const first = [{ text: "the cluster is not in its API server yet", holds: ({ imported }: StartRun) => !imported }];

/** Makes a bare machine the first node of a control plane that lives on it. */
export const startControlPlane = defineFlow<StartRun, Row<StartAction>, StartAction>("Start the control plane", {
  preflight: row("preflight", "looks whether this machine can carry a control plane"),
  config: row("config", "notes the configuration's folder and the Shoot's uid, which stays the same", "preflight"),
  secrets: { ...row("secrets", "makes the keys and certificates of the cluster, once", "config"), when: first },
  machineConfig: {
    ...row("machineConfig", "describes the machine: its files, units and static pods", "secrets"),
    when: first,
  },
  machine: { ...row("machine", "writes files and starts units, those that differ", "machineConfig"), when: first },
  kubelet: row("kubelet", "waits for the kubelet", "machine"),
  etcd: row("etcd", "waits for etcd-main and etcd-events", "kubelet"),
  kubeApiServer: row("kubeApiServer", "waits for the API server", "etcd"),
  controllers: {
    ...row("controllers", "writes the static pods that end while no API server answers", "kubeApiServer"),
    when: first,
  },
  kubeControllerManager: row("kubeControllerManager", "waits for the controller manager", "controllers"),
  kubeScheduler: row("kubeScheduler", "waits for the scheduler", "controllers"),
  node: row("node", "marks the Node as one of the control plane", "kubeApiServer"),
  imported: row("imported", "moves what was made so far into the API server", "controllers"),
  turn: row("turn", "waits until no node joins, and no other command changes the control plane", "imported"),
});
