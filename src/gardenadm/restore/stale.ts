import { CONTROL_PLANE_LABEL } from "../../api/labels.ts";
import { Node, Pod, refOf, type KubeClient } from "../../kube/index.ts";
import { removeNodeObjects } from "../cluster/node-objects.ts";

/**
 * Takes out of the cluster what is of control-plane machines that are gone, all but the one with this host name: their pods, and
 * what it keeps by their names. Answers with these. A killed call finds again what it has left.
 */
export async function removeLostNodes(client: KubeClient, hostName: string): Promise<readonly string[]> {
  const nodes = await client.list(Node, { labelSelector: CONTROL_PLANE_LABEL });
  const lost = nodes.filter(({ metadata }) => metadata.name !== hostName);
  if (lost.length === 0) return [];
  for (const { metadata } of lost) {
    const { name } = metadata;
    const pods = await client.list(Pod, { fieldSelector: `spec.nodeName=${name}` });
    for (const pod of pods) await client.remove(refOf(pod), { gracePeriodSeconds: 0 });
    await removeNodeObjects(client, name);
  }
  return lost.map(({ metadata }) => metadata.name);
}
