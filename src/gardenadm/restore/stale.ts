import { CONTROL_PLANE_LABEL } from "../../api/labels.ts";
import { nodeAgentLeaseName } from "../../api/names.ts";
import { nodeObjectName } from "../../components/index.ts";
import { Lease, Node, Pod, refOf, Secret, typeMeta, type KubeClient } from "../../kube/index.ts";
import { NAMESPACE } from "../init/cluster.ts";

/**
 * Takes out of the cluster what is of control-plane machines that are gone, all but the one with this host name: their pods, the
 * Leases by which their names are kept for them, their Secrets, and last their Nodes, so that a killed call finds the rest again.
 * Answers with their names.
 */
export async function removeLostNodes(client: KubeClient, hostName: string): Promise<readonly string[]> {
  const nodes = await client.list(Node, { labelSelector: CONTROL_PLANE_LABEL });
  const lost = nodes.filter(({ metadata }) => metadata.name !== hostName);
  if (lost.length === 0) return [];
  const secrets = await client.listRefs(Secret);
  for (const node of lost) {
    const { name } = node.metadata;
    const pods = await client.list(Pod, { fieldSelector: `spec.nodeName=${name}` });
    for (const pod of pods) await client.remove(refOf(pod), { gracePeriodSeconds: 0 });
    const lease = { ...typeMeta(Lease), metadata: { namespace: NAMESPACE, name: nodeAgentLeaseName(name) } };
    await client.remove(refOf(lease));
    const own = secrets.filter((ref) => ref.namespace === NAMESPACE && ref.name.endsWith(nodeObjectName("", name)));
    for (const secret of own) await client.remove(secret);
    await client.remove(refOf(node));
  }
  return lost.map(({ metadata }) => metadata.name);
}
