import { defineFlow } from "../../flow/flow.ts";

/** What is done on the first machine of a control plane, in the words of GEP-28. */
export type StartAction =
  | "preflight"
  | "config"
  | "secrets"
  | "machineConfig"
  | "machine"
  | "kubelet"
  | "etcd"
  | "kubeApiServer"
  | "kubeControllerManager"
  | "kubeScheduler"
  | "node"
  | "imported";

/** What a row does, as plans say it. */
export interface StartRow {
  readonly action: StartAction;
  readonly does: string;
}

const row = (action: StartAction, does: string, ...after: StartAction[]) => ({ do: { action, does }, after });

/** Makes a bare machine the first node of a control plane that lives on it. */
export const startControlPlane = defineFlow<undefined, StartRow, StartAction>("start the control plane", {
  preflight: row("preflight", "looks whether this machine can carry a control plane"),
  config: row("config", "notes the configuration's folder and the Shoot's uid, which stays the same", "preflight"),
  secrets: row("secrets", "makes the keys and certificates of the cluster, once", "config"),
  machineConfig: row("machineConfig", "describes the machine: its files, units and static pods", "secrets"),
  machine: row("machine", "writes files and starts units, those that differ", "machineConfig"),
  kubelet: row("kubelet", "waits for the kubelet", "machine"),
  etcd: row("etcd", "waits for etcd-main and etcd-events", "kubelet"),
  kubeApiServer: row("kubeApiServer", "waits for the API server", "etcd"),
  kubeControllerManager: row("kubeControllerManager", "waits for the controller manager", "kubeApiServer"),
  kubeScheduler: row("kubeScheduler", "waits for the scheduler", "kubeApiServer"),
  node: row("node", "marks the Node as one of the control plane", "kubeApiServer"),
  imported: row("imported", "moves what was made so far into the API server", "kubeApiServer"),
});
