import { nodeCertificateNames } from "../../activities/secrets/plan.ts";
import { CONTROL_PLANE_LABEL } from "../../api/labels.ts";
import { nodeAgentLeaseName } from "../../api/names.ts";
import { Lease, Node, Pod, refOf, refTo, Secret, type KubeClient } from "../../kube/index.ts";
import { NAMESPACE } from "../init/cluster.ts";

/**
 * Takes out of the cluster what is of control-plane machines that are gone, all but the one with this host name: their pods, the
 * Leases by which their names are kept for them, their certificates, and last their Nodes, so that a killed call finds the rest again.
 * Answers with their names.
 */
export async function removeLostNodes(client: KubeClient, hostName: string): Promise<readonly string[]> {
  const nodes = await client.list(Node, { labelSelector: CONTROL_PLANE_LABEL });
  const lost = nodes.filter(({ metadata }) => metadata.name !== hostName);
  if (lost.length === 0) return [];
  for (const node of lost) {
    const { name } = node.metadata;
    const pods = await client.list(Pod, { fieldSelector: `spec.nodeName=${name}` });
    for (const pod of pods) await client.remove(refOf(pod), { gracePeriodSeconds: 0 });
    await client.remove(refTo(Lease, { namespace: NAMESPACE, name: nodeAgentLeaseName(name) }));
    for (const own of nodeCertificateNames(name))
      await client.remove(refTo(Secret, { namespace: NAMESPACE, name: own }));
    await client.remove(refOf(node));
  }
  return lost.map(({ metadata }) => metadata.name);
}
