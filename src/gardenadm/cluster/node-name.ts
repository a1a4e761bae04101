import { CONTROL_PLANE_LABEL, NODE_ROLE_LABEL } from "../../api/labels.ts";
import { nodeAgentLeaseName, SYSTEM_NAMESPACE, type NodeRole } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isAlreadyExists } from "../../kube/errors.ts";
import { Lease, Node } from "../../kube/kinds.ts";
import { refOf, typeMeta } from "../../kube/path.ts";

/** A name, what its node is to be, and whether an administrator says so, who knows better than a Node that is not labelled yet. */
export interface NameClaim {
  readonly node: string;
  readonly role: NodeRole;
  readonly byAdministrator?: true;
}

/**
 * Keeps a node's name for a role, before a certificate is given for it: a worker's token that asked for the name of a
 * control-plane node that is still to come would be that node for Kubernetes. The Lease of the node's agent bears the role. Where
 * the node leaves the cluster, it goes by {@link freeNodeName}. Returns why the name is not to be had; undefined when it is kept.
 */
export async function claimNodeName(client: KubeClient, claim: NameClaim): Promise<string | undefined> {
  const { node: name, role } = claim;
  const lease = await client.read(Lease, leaseOf(name));
  const kept = lease?.metadata.labels?.[NODE_ROLE_LABEL];
  if (kept === role) return undefined;
  const node = await roleOfNode(client, name);
  if (kept !== undefined) return node === undefined ? wasOther(name, kept, role) : belongs(name, kept, role);
  const isOther = node !== undefined && node !== role;
  if (isOther && claim.byAdministrator !== true) return belongs(name, node, role);
  return await keepName(client, claim, lease);
}

async function keepName(client: KubeClient, claim: NameClaim, lease: Lease | undefined): Promise<string | undefined> {
  const { node: name, role } = claim;
  const labels = { [NODE_ROLE_LABEL]: role };
  if (lease !== undefined) {
    const { resourceVersion } = lease.metadata;
    await client.patch(refOf(lease), { metadata: { labels, ...(resourceVersion && { resourceVersion }) } });
    return undefined;
  }
  try {
    await client.create<Lease>({ ...typeMeta(Lease), metadata: { ...leaseOf(name), labels }, spec: {} });
    return undefined;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return await claimNodeName(client, claim);
  }
}

/**
 * Frees the name of a node that has left the cluster, unless it was a worker's: a kubelet's certificate outlives its node, renews itself,
 * and would be that of a control-plane node of this name.
 */
export async function freeNodeName(client: KubeClient, name: string): Promise<void> {
  const lease = await client.read(Lease, leaseOf(name));
  const isWorkers = lease?.metadata.labels?.[NODE_ROLE_LABEL] === ("worker" satisfies NodeRole);
  if (lease !== undefined && !isWorkers) await client.remove(refOf(lease));
}

const leaseOf = (node: string) => ({ namespace: SYSTEM_NAMESPACE, name: nodeAgentLeaseName(node) });

async function roleOfNode(client: KubeClient, name: string): Promise<NodeRole | undefined> {
  const node = await client.read(Node, { name });
  if (node === undefined) return undefined;
  return node.metadata.labels?.[CONTROL_PLANE_LABEL] === undefined ? "worker" : "control-plane";
}

const belongs = (name: string, kept: string, role: NodeRole): string =>
  `node ${name} is one for role ${kept}, and cannot be one for role ${role} before it has left the cluster`;

const wasOther = (name: string, kept: string, role: NodeRole): string =>
  `${name} was given to a node for role ${kept}, whose certificate may still be in use, and cannot be one for role ${role}: ` +
  `give the machine another host name; or, where that machine was in your hands all the time, delete Lease ${nodeAgentLeaseName(name)} in namespace ${SYSTEM_NAMESPACE}`;
