import { nodeAgentLeaseName, SYSTEM_NAMESPACE } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client.ts";
import { Lease } from "../../kube/kinds.ts";

/** In ms: four times as long as an agent's pause. */
const LONGEST_SILENCE = 40_000;

/** Whether the agent of a node is at work: its heartbeat is fresh. Its Lease is the cluster's to make, when it lets the agent in. */
export async function isAgentAtWork(client: Pick<KubeClient, "read">, node: string): Promise<boolean> {
  const lease = await client.read(Lease, { namespace: SYSTEM_NAMESPACE, name: nodeAgentLeaseName(node) });
  return Date.now() - Date.parse(lease?.spec.renewTime ?? "") < LONGEST_SILENCE;
}
