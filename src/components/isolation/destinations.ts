import { BlockList, isIP } from "node:net";
import { NAMESPACE_NAME_LABEL } from "../../api/labels.ts";
import { isNetwork } from "../../api/schema/cidr.ts";
import { networksOf } from "../networks.ts";
import { seedOf, type ControlPlaneContext } from "../context.ts";
import { tcp, type Peer, type Traffic } from "./policy.ts";

/** The seed's DNS servers, at the ports of Service and pod. */
export const dns: Traffic = {
  peers: [
    {
      namespaceSelector: { matchLabels: { [NAMESPACE_NAME_LABEL]: "kube-system" } },
      podSelector: { matchExpressions: [{ key: "k8s-app", operator: "In", values: ["kube-dns", "node-local-dns"] }] },
    },
  ],
  ports: [53, 8053].flatMap((port) => [{ protocol: "UDP", port } as const, { protocol: "TCP", port } as const]),
};

/** What is neither private nor blocked. */
export function publicNetworks(context: ControlPlaneContext): Traffic {
  return { peers: blocks(["0.0.0.0/0"], [...PRIVATE, ...(seedOf(context).spec.networks.blockCIDRs ?? [])]) };
}

/** What is private, but for what is blocked, for the seed itself and for the Shoot's networks. */
export function privateNetworks(context: ControlPlaneContext): Traffic {
  const blocked = seedOf(context).spec.networks.blockCIDRs ?? [];
  return { peers: blocks(PRIVATE, [...seedNetworks(context), ...networksOfShoot(context), ...blocked]) };
}

/** Only what the seed's operator has blocked. */
export function blockedNetworks(context: ControlPlaneContext): Traffic {
  return { peers: blocks(seedOf(context).spec.networks.blockCIDRs ?? [], []) };
}

/**
 * The Shoot's nodes, pods and Services, as far as they are known. Nodes may be in the seed's own node network: it is the
 * seed's pods and Services that no Shoot may name as its own.
 */
export function shootNetworks(context: ControlPlaneContext): Traffic {
  const { pods, services, blockCIDRs = [] } = seedOf(context).spec.networks;
  return { peers: blocks(networksOfShoot(context), [pods, services, ...blockCIDRs]) };
}

/** The seed's own API server, where its addresses are known. */
export function seedApiServer({ seedApiServer: server }: ControlPlaneContext): Traffic {
  const { addresses = [], port = 443 } = server ?? {};
  return {
    peers: blocks(
      addresses.map((address) => `${address}/${isIP(address) === 6 ? 128 : 32}`),
      [],
    ),
    ports: tcp(port),
  };
}

/** Everywhere but in the seed's pods: load balancers, users, nodes. */
export function outsideSeedPods(context: ControlPlaneContext): Traffic["peers"] {
  return blocks(["0.0.0.0/0", "::/0"], [seedOf(context).spec.networks.pods]);
}

/** RFC 1918 and, of RFC 6598, what carriers share. */
const PRIVATE = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"];

function seedNetworks(context: ControlPlaneContext): string[] {
  const { pods, services, nodes } = seedOf(context).spec.networks;
  return [pods, services, ...(nodes === undefined ? [] : [nodes])];
}

/** Nodes come from an extension: what is not a network for every reader could be one of the seed's for the next. */
function networksOfShoot(context: ControlPlaneContext): string[] {
  const { shoot } = context;
  const { pods, services } = networksOf(context);
  const nodes = shoot.status?.networking?.nodes ?? [shoot.spec.networking?.nodes ?? []].flat();
  return [...new Set([...nodes.filter(isNetwork), pods, services])];
}

/** An exception has to lie inside its block, and takes all of it away where it is no smaller. */
function blocks(cidrs: readonly string[], closed: readonly string[]): Peer[] {
  return cidrs
    .filter((cidr) => !closed.some((one) => contains(one, cidr)))
    .map((cidr) => {
      const except = [...new Set(closed.filter((one) => contains(cidr, one)))];
      return { ipBlock: { cidr, ...(except.length === 0 ? {} : { except }) } };
    });
}

function contains(outer: string, inner: string): boolean {
  const [a, b] = [parts(outer), parts(inner)];
  if (a.family !== b.family || a.bits > b.bits) return false;
  const list = new BlockList();
  list.addSubnet(a.address, a.bits, a.family);
  return list.check(b.address, b.family);
}

function parts(cidr: string) {
  const [address = "", bits] = cidr.split("/");
  return { address, bits: Number(bits), family: isIP(address) === 6 ? ("ipv6" as const) : ("ipv4" as const) };
}
