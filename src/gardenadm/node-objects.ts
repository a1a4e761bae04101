import { nodeCertificateNames } from "../activities/secrets/plan.ts";
import { nodeAgentLeaseName } from "../api/names.ts";
import { nodeConfigurationName } from "../components/index.ts";
import { ConfigMap, Lease, Node, refTo, Secret, type KubeClient } from "../kube/index.ts";
import { NAMESPACE } from "./init/cluster.ts";
import { ETCDS } from "./reconcile/members.ts";

/**
 * Removes what the cluster keeps by the name of a node: the certificates and settings that are its own, the Lease by which its name is
 * kept for it, and last its Node, so that a killed call finds the rest again.
 */
export async function removeNodeObjects(client: KubeClient, node: string): Promise<void> {
  for (const name of nodeCertificateNames(node)) await client.remove(refTo(Secret, { namespace: NAMESPACE, name }));
  for (const role of ETCDS)
    await client.remove(refTo(ConfigMap, { namespace: NAMESPACE, name: nodeConfigurationName(role, node) }));
  await client.remove(refTo(Lease, { namespace: NAMESPACE, name: nodeAgentLeaseName(node) }));
  await client.remove(refTo(Node, { name: node }));
}
