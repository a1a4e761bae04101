import { nodeCertificateNames } from "../../activities/secrets/plan.ts";
import { ETCDS, nodeConfigurationName } from "../../components/index.ts";
import { ConfigMap, Node, refTo, Secret, type KubeClient } from "../../kube/index.ts";
import { NAMESPACE } from "./control-plane.ts";
import { freeNodeName } from "./node-name.ts";

/**
 * Removes what the cluster keeps by the name of a node: the certificates and settings that are its own, the Lease by which its name is
 * kept for it, unless it was a worker's, and last its Node, so that a killed call finds the rest again.
 */
export async function removeNodeObjects(client: KubeClient, node: string): Promise<void> {
  for (const name of nodeCertificateNames(node)) await client.remove(refTo(Secret, { namespace: NAMESPACE, name }));
  for (const role of ETCDS)
    await client.remove(refTo(ConfigMap, { namespace: NAMESPACE, name: nodeConfigurationName(role, node) }));
  await freeNodeName(client, node);
  await client.remove(refTo(Node, { name: node }));
}
