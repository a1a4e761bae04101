import { announceKubeconfig } from "../../activities/control-plane/cluster.ts";
import { ensureSecrets } from "../../activities/secrets/secrets.ts";
import type { StepScope } from "../../in-process/run.ts";
import type { KubeClient } from "../../kube/index.ts";
import { NAMESPACE, readClusterContext } from "../cluster/control-plane.ts";
import type { ThisMachine } from "../machine/this-machine.ts";
import { placesIn } from "../machine/places.ts";
import { refuseNewKeys } from "../cluster/refuse-new-keys.ts";
import { waitForLock } from "../machine/lock.ts";
import { orderMachines, rolledOut } from "../cluster/roll-out.ts";
import { takeTurn } from "../cluster/turn.ts";

/**
 * Makes those certificates of the control plane anew of which 80 % of the life are over, and returns when its nodes have taken them up,
 * one after another. It waits for other commands of this machine, and of others. What the cluster is, it reads in the cluster: it works on each node of the control plane, and changes nothing else.
 * The client is an administrator's.
 */
export async function renewCertificates(
  client: KubeClient,
  machine: Pick<ThisMachine, "root" | "hostName">,
  scope: StepScope,
): Promise<void> {
  await waitForLock(placesIn(machine.root).lock, scope.signal, async () => {
    const turn = await takeTurn(client, machine, scope);
    try {
      await renew(client, turn.within(scope));
    } finally {
      await turn.end();
    }
  });
}

async function renew(client: KubeClient, scope: StepScope): Promise<void> {
  await ensureSecrets(client, await readClusterContext(client), { kept: refuseNewKeys });
  await announceKubeconfig(client, { technicalID: NAMESPACE, managesResources: true });
  await rolledOut(client, await orderMachines(client, await readClusterContext(client)), scope);
}
