import { defineFlow, type Step } from "../../flow/flow.ts";
import { rowsWith, type Row } from "../steps/row.ts";
import { startControlPlane, type StartAction, type StartRun } from "../init/start-control-plane.ts";

/** What is done on a fresh machine besides what `init` does on the first one. */
export type BackupRestoreAction = "source" | "keptSecrets" | "etcdData" | "staleObjects";

type Action = BackupRestoreAction | StartAction;

const first = [{ text: "the cluster is not in its API server yet", holds: ({ imported }: StartRun) => !imported }];

const always = rowsWith<Action>();
const row = (...words: Parameters<typeof always>) => ({ ...always(...words), when: first });

/** A row of `startControlPlane` as it stands there, behind further rows where it is said. */
function started(action: StartAction, ...after: Action[]): Step<StartRun, Row<Action>, Action> {
  const found = startControlPlane.steps.get(action);
  if (found === undefined) throw new Error(`startControlPlane has no step ${action}`);
  const { do: act, after: own = [], when = [] } = found;
  const twice = after.find((one) => (own as readonly Action[]).includes(one));
  if (twice !== undefined) throw new Error(`step ${action} comes after ${twice} in startControlPlane already`);
  return { do: act, when, after: [...(own as readonly Action[]), ...after] };
}

/**
 * Makes a fresh machine the first node of a control plane with the keys and the etcd of one that is lost: `startControlPlane` with
 * what is kept in front. What the cluster still says of machines that are gone goes before anything acts on it.
 */
// prettier-ignore
export const restoreFromBackup = defineFlow<StartRun, Row<Action>, Action>("Restore the control plane", {
  preflight: started("preflight"),
  source: row("source", "finds the snapshot and its bundle, fetches both, and opens the bundle", "preflight"),
  keptSecrets: row("keptSecrets", "takes authorities, keys and the Shoot's uid out of the bundle", "source"),
  etcdData: row("etcdData", "makes the snapshot the data of etcd-main; etcd-events begins empty", "keptSecrets"),
  config: started("config", "keptSecrets"),
  secrets: started("secrets"),
  machineConfig: started("machineConfig"),
  machine: started("machine", "etcdData"),
  kubelet: started("kubelet"),
  etcd: started("etcd"),
  kubeApiServer: started("kubeApiServer"),
  staleObjects: row("staleObjects", "takes away what the cluster knows of machines that are gone", "kubeApiServer"),
  controllers: started("controllers", "staleObjects"),
  kubeControllerManager: started("kubeControllerManager"),
  kubeScheduler: started("kubeScheduler"),
  node: started("node", "staleObjects"),
  imported: started("imported", "staleObjects"),
  turn: started("turn"),
});
