import { BlockList, isIP } from "node:net";
import type { KubeObject } from "../../src/api/index.ts";

/** One end of a connection: a pod, or an address that is no pod's. */
export interface End {
  readonly address: string;
  /** Undefined for what is no pod: a node, a load balancer, a user. */
  readonly pod?: {
    readonly namespace: string;
    readonly namespaceLabels?: Readonly<Record<string, string>>;
    readonly labels: Readonly<Record<string, string>>;
  };
}

/** A connection of TCP, unless it is said otherwise. */
export interface Connection {
  readonly from: End;
  readonly to: End;
  readonly port: number;
  readonly protocol?: "TCP" | "UDP";
}

/**
 * Whether NetworkPolicies let a connection pass, by the rules of networking.k8s.io/v1: a pod that no policy chooses for a
 * direction is open in it, one that is chosen takes what any of its policies allows. Both ends have to agree.
 */
export function mayConnect(policies: readonly KubeObject[], connection: Connection): boolean {
  const { from, to } = connection;
  return (
    agrees(policies, { own: from, peer: to, direction: "Egress" }, connection) &&
    agrees(policies, { own: to, peer: from, direction: "Ingress" }, connection)
  );
}

interface Side {
  readonly own: End;
  readonly peer: End;
  readonly direction: "Ingress" | "Egress";
}

function agrees(policies: readonly KubeObject[], { own, peer, direction }: Side, connection: Connection): boolean {
  const { pod } = own;
  if (pod === undefined) return true;
  const choosing = policies
    .map(({ metadata, ...object }) => ({ namespace: metadata.namespace, spec: object["spec"] as Spec }))
    .filter(({ namespace, spec }) => namespace === pod.namespace && spec.policyTypes.includes(direction))
    .filter(({ spec }) => matches(spec.podSelector, pod.labels));
  if (choosing.length === 0) return true;
  const rules = choosing.flatMap(
    ({ namespace, spec }) =>
      (direction === "Egress" ? spec.egress : spec.ingress)?.map((rule) => ({ namespace, rule })) ?? [],
  );
  return rules.some(({ namespace, rule }) => {
    const peers = direction === "Egress" ? rule.to : rule.from;
    return allowsPort(rule, connection) && (peers === undefined || peers.some((one) => isPeer(one, peer, namespace)));
  });
}

function allowsPort({ ports }: Rule, { port, protocol = "TCP" }: Connection): boolean {
  return ports === undefined || ports.some((one) => one.port === port && one.protocol === protocol);
}

function isPeer({ ipBlock, podSelector, namespaceSelector }: Peer, { address, pod }: End, namespace?: string): boolean {
  if (ipBlock) return isIn(ipBlock.cidr, address) && !ipBlock.except?.some((one) => isIn(one, address));
  if (pod === undefined) return false;
  const labels = { "kubernetes.io/metadata.name": pod.namespace, ...pod.namespaceLabels };
  const isThere = namespaceSelector ? matches(namespaceSelector, labels) : pod.namespace === namespace;
  return isThere && (podSelector === undefined || matches(podSelector, pod.labels));
}

function matches(
  { matchLabels = {}, matchExpressions = [] }: Selector,
  labels: Readonly<Record<string, string>>,
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ""))
  );
}

function isIn(cidr: string, address: string): boolean {
  const [network = "", bits] = cidr.split("/");
  const family = (text: string) => (isIP(text) === 6 ? "ipv6" : "ipv4");
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family(network));
  return family(address) === family(network) && list.check(address, family(address));
}

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[];
}

interface Peer {
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
}

interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly { readonly port: number; readonly protocol: string }[];
}

interface Spec {
  readonly podSelector: Selector;
  readonly policyTypes: readonly string[];
  readonly ingress?: readonly Rule[];
  readonly egress?: readonly Rule[];
}
