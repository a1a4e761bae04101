import { isIPv4 } from "node:net";
import { isIPv4Network, overlaps, prefixOf } from "../../api/schema/cidr.ts";
import type { Node } from "../../kube/index.ts";
import type { MachineNetwork } from "../../local/network/cni.ts";

/** What each machine must be told, by its name: nodes without a pod range or a machine are no peers yet. */
export function planNetworks(
  nodes: readonly Node[],
  addresses: ReadonlyMap<string, string>,
  clusterPodCIDR: string,
): Map<string, MachineNetwork> {
  const members = membersOf(nodes, clusterPodCIDR, ({ metadata }) => addresses.get(metadata.name));
  return new Map(members.map((member) => [member.name, networkOf(member, members, clusterPodCIDR)]));
}

/**
 * What one node must be told, and the address at which the others reach it: by what the Nodes say of themselves. Undefined as
 * long as it has no range of pod addresses, or no address.
 */
export function planNode(nodes: readonly Node[], name: string, clusterPodCIDR: string): NodePlan | undefined {
  const members = membersOf(nodes, clusterPodCIDR, internalAddress);
  const own = members.find((member) => member.name === name);
  return own && { address: own.address, network: networkOf(own, members, clusterPodCIDR) };
}

/** {@link planNode}'s result. */
export interface NodePlan {
  readonly address: string;
  readonly network: MachineNetwork;
}

interface Member {
  readonly name: string;
  readonly podCIDR: string;
  readonly address: string;
}

/**
 * Members in the order of their names. A kubelet that creates its Node may write any range into it, and a route for that range would
 * bring it the packets of others: a range outside of the cluster's, or one that an older Node shares, counts as none.
 */
function membersOf(nodes: readonly Node[], clusterPodCIDR: string, addressOf: AddressOf): Member[] {
  const members: Member[] = [];
  const taken: string[] = [];
  for (const node of nodes.toSorted(byAge)) {
    const podCIDR = node.spec?.podCIDR;
    if (podCIDR === undefined || !lies(podCIDR, clusterPodCIDR) || taken.some((each) => overlaps(each, podCIDR)))
      continue;
    taken.push(podCIDR);
    const address = addressOf(node);
    if (address !== undefined) members.push({ name: node.metadata.name, podCIDR, address });
  }
  return members.sort(byName);
}

type AddressOf = (node: Node) => string | undefined;

const lies = (podCIDR: string, clusterPodCIDR: string): boolean =>
  isIPv4Network(podCIDR) && prefixOf(podCIDR) >= prefixOf(clusterPodCIDR) && overlaps(podCIDR, clusterPodCIDR);

/** The oldest first; of two that came in the same second, by name. */
function byAge({ metadata: a }: Node, { metadata: b }: Node): number {
  const [one = "", other = ""] = [a.creationTimestamp, b.creationTimestamp];
  if (one !== other) return one < other ? -1 : 1;
  return byName(a, b);
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);

function networkOf({ name, podCIDR }: Member, members: readonly Member[], clusterPodCIDR: string): MachineNetwork {
  const peers = members
    .filter((peer) => peer.name !== name)
    .map((peer) => ({ podCIDR: peer.podCIDR, address: peer.address }));
  return { podCIDR, clusterPodCIDR, peers };
}

/** A kubelet says it of itself, and no API server looks at it: what is no address must not get to where routes are made. */
export function internalAddress({ status }: Node): string | undefined {
  return status?.addresses?.find(({ type, address }) => type === "InternalIP" && isIPv4(address))?.address;
}
