import { fileURLToPath } from "node:url";
import type { ControlPlaneContext } from "../../components/index.ts";
import type { StepScope } from "../../in-process/run.ts";
import type { KubeClient } from "../../kube/index.ts";
import { reconcileSelfHosted } from "../../workflows/reconcile-self-hosted.ts";
import { createReconcileActions } from "../reconcile/actions.ts";
import { readFacts } from "../reconcile/facts.ts";
import type { Tables } from "../steps/tables.ts";
import type { StartDeps } from "./actions.ts";
import { ensureUid } from "../cluster/control-plane.ts";
import { placesIn } from "../machine/places.ts";

/** A cluster whose API server answers. */
export interface ReconciledCluster extends StartDeps {
  server(): KubeClient;
  readContext(): Promise<ControlPlaneContext>;
  /** The scope of a step that changes the control plane. */
  within(scope: StepScope): StepScope;
}

/** Brings the cluster to what its configuration asks for, by the table `reconcileSelfHosted`. */
export async function reconcile(
  tables: Tables,
  { machine, configuration, server, readContext, within }: ReconciledCluster,
): Promise<void> {
  const client = server();
  const run = await readFacts(client, configuration);
  const uid = await ensureUid(placesIn(machine.root).shootUid, configuration.shoot);
  const carryOut = createReconcileActions({ client, configuration, machine, run, readContext, helm: HELM, uid });
  await tables.run(reconcileSelfHosted, run, async (action, scope) => await carryOut(action, within(scope)));
}

/** The binary of Helm that comes with gardenadm. */
const HELM = fileURLToPath(new URL("../../../bin/helm", import.meta.url));
