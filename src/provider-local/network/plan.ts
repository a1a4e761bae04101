import { isIPv4 } from "node:net";
import type { Node } from "../../kube/index.ts";
import type { MachineNetwork } from "../../local/network/cni.ts";

/** What each machine must be told, by its name: nodes without a pod range or a machine are no peers yet. */
export function planNetworks(
  nodes: readonly Node[],
  addresses: ReadonlyMap<string, string>,
  clusterPodCIDR: string,
): Map<string, MachineNetwork> {
  const members = membersOf(nodes, ({ metadata }) => addresses.get(metadata.name));
  return new Map(members.map((member) => [member.name, networkOf(member, members, clusterPodCIDR)]));
}

/**
 * What one node must be told, and the address at which the others reach it: by what the Nodes say of themselves. Undefined as
 * long as it has no range of pod addresses, or no address.
 */
export function planNode(nodes: readonly Node[], name: string, clusterPodCIDR: string): NodePlan | undefined {
  const members = membersOf(nodes, internalAddress);
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

/** In the order of their names. */
function membersOf(nodes: readonly Node[], addressOf: (node: Node) => string | undefined): Member[] {
  const members = nodes.flatMap((node) => {
    const [podCIDR, address] = [node.spec?.podCIDR, addressOf(node)];
    return podCIDR === undefined || address === undefined ? [] : [{ name: node.metadata.name, podCIDR, address }];
  });
  return members.sort((a, b) => (a.name < b.name ? -1 : 1));
}

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
