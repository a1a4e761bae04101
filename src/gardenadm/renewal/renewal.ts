import { announceKubeconfig } from "../../activities/control-plane/cluster.ts";
import { ensureSecrets } from "../../activities/secrets/secrets.ts";
import type { StepScope } from "../../in-process/run.ts";
import type { KubeClient } from "../../kube/index.ts";
import { NAMESPACE, readClusterContext } from "../init/cluster.ts";
import { refuseNewKeys } from "../lasting-secrets.ts";
import { orderMachines, rolledOut } from "../reconcile/roll-out.ts";
import { takeTurn } from "../turn.ts";

/**
 * Makes those certificates of the control plane anew of which 80 % of the life are over, and returns when its nodes have taken them up,
 * one after another. What the cluster is, it reads in the cluster: it works on each node of the control plane, and changes nothing else.
 * The client is an administrator's.
 */
export async function renewCertificates(client: KubeClient, hostName: string, scope: StepScope): Promise<void> {
  const turn = await takeTurn(client, hostName, scope);
  try {
    await ensureSecrets(client, await readClusterContext(client), { kept: refuseNewKeys });
    await announceKubeconfig(client, { technicalID: NAMESPACE, managesResources: true });
    await rolledOut(client, await orderMachines(client, await readClusterContext(client)), scope);
  } finally {
    await turn.end();
  }
}
