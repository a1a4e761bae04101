import type { Member } from "../../etcd/answers.ts";
import { Node, type KubeClient } from "../../kube/index.ts";
import { abandonedOf, addressesBeside, isAt } from "../cluster/members.ts";

/** The node that goes. */
export interface Leaving {
  readonly node: string;
  /** Those of its machine, as far as the caller knows more than the cluster. */
  readonly addresses: readonly string[];
  readonly machineIsGone: boolean;
}

/**
 * Tells which members go with the node: those of its name; those at its addresses that have never started, and so have told no
 * name; and, where its machine is gone, all learners that have never started, at the address of no other node: of one whose join
 * came to nothing, the cluster may know no address.
 */
export async function isLeaving(
  client: KubeClient,
  { node, addresses, machineIsGone }: Leaving,
): Promise<(member: Member) => boolean> {
  const others = await addressesBeside(client, node);
  const known = (await client.read(Node, { name: node }))?.status?.addresses ?? [];
  const own = [...addresses, ...known.map(({ address }) => address)].filter((address) => !others.includes(address));
  return (member) =>
    member.name === node ||
    (!member.started && isAt(member, own)) ||
    (machineIsGone && abandonedOf([member], others).length > 0);
}
