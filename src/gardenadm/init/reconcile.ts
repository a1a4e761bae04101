import { join } from "node:path";
import type { ControlPlaneContext } from "../../components/index.ts";
import type { StepScope } from "../../in-process/run.ts";
import type { KubeClient } from "../../kube/index.ts";
import { reconcileSelfHosted } from "../../workflows/reconcile-self-hosted.ts";
import { createReconcileActions } from "../reconcile/actions.ts";
import { readFacts } from "../reconcile/facts.ts";
import { reportOperation } from "../reconcile/operation-report.ts";
import type { Tables } from "../steps/tables.ts";
import type { StartDeps } from "./actions.ts";
import { ensureUid } from "../cluster/control-plane.ts";
import { placesIn } from "../machine/places.ts";
import { packageRoot } from "../../package.ts";

/** A cluster whose API server answers. */
export interface ReconciledCluster extends StartDeps {
  server(): KubeClient;
  readContext(): Promise<ControlPlaneContext>;
  /** The scope of a step that changes the control plane. */
  within(scope: StepScope): StepScope;
  /** The control plane is this command's to change. */
  holdsTurn(): boolean;
  /** Something was written into it since the command began, Leases aside. */
  hasWritten(): boolean;
  /** It was restored just now. */
  readonly isRestored?: boolean;
}

/** Brings the cluster to what its configuration asks for, by the table `reconcileSelfHosted`; its Shoot's status says how that gets on. */
export async function reconcile(tables: Tables, cluster: ReconciledCluster): Promise<void> {
  const { machine, configuration, readContext, within, holdsTurn, hasWritten, isRestored = false } = cluster;
  const client = cluster.server();
  const run = await readFacts(client, configuration);
  const uid = await ensureUid(placesIn(machine.root).shootUid, configuration.shoot);
  const carryOut = createReconcileActions({ client, configuration, machine, run, readContext, helm: HELM, uid });
  const report = await reportOperation({ client, configuration, uid, isRestored, hasWritten, holdsTurn });
  let outcome: "succeeded" | "stopped" = "stopped";
  try {
    const inTurn: typeof carryOut = async (action, scope) => await carryOut(action, within(scope));
    await tables.run(reconcileSelfHosted, run, inTurn, report.change);
    outcome = "succeeded";
  } finally {
    await report.end(outcome);
  }
}

/** The binary of Helm that comes with gardenadm. */
const HELM = join(packageRoot, "bin/helm");
