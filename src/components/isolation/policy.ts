import type { KubeObject } from "../../api/index.ts";
import type { ControlPlaneContext } from "../context.ts";

/** Labels by which pods are chosen; none chooses all. */
export type PodLabels = Readonly<Record<string, string>>;

/** The other end of a connection. */
export type Peer =
  | { readonly ipBlock: { readonly cidr: string; readonly except?: readonly string[] } }
  | { readonly podSelector: Selector; readonly namespaceSelector?: Selector }
  | { readonly namespaceSelector: Selector };

interface Selector {
  readonly matchLabels?: PodLabels;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: "In"; readonly values: string[] }[];
}

/** Which peers may be talked to, at which ports; without ports, at all. */
export interface Traffic {
  readonly peers: readonly Peer[];
  readonly ports?: readonly Port[];
}

/** A port of the pod itself, not of its Service. */
export interface Port {
  readonly protocol: "TCP" | "UDP";
  readonly port: number;
}

/** A NetworkPolicy. Where a direction is left out, it says nothing of it; where a direction allows nothing, it closes it. */
export function policy(
  { namespace }: ControlPlaneContext,
  name: string,
  rules: { readonly pods: PodLabels; readonly ingress?: readonly Traffic[]; readonly egress?: readonly Traffic[] },
): KubeObject {
  const { pods, ingress, egress } = rules;
  // A rule without peers would allow all of them, and an API server keeps no empty list.
  const some = (traffic: readonly Traffic[] = []) => traffic.filter(({ peers }) => peers.length > 0);
  const [incoming, outgoing] = [some(ingress), some(egress)];
  const ports = (one: Traffic) => (one.ports === undefined ? {} : { ports: one.ports });
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, namespace },
    spec: {
      podSelector: Object.keys(pods).length === 0 ? {} : { matchLabels: pods },
      policyTypes: [...(ingress ? ["Ingress"] : []), ...(egress ? ["Egress"] : [])],
      ...(incoming.length > 0 && { ingress: incoming.map((one) => ({ from: one.peers, ...ports(one) })) }),
      ...(outgoing.length > 0 && { egress: outgoing.map((one) => ({ to: one.peers, ...ports(one) })) }),
    },
  };
}

/** Ports of TCP. */
export const tcp = (...ports: number[]): Port[] => ports.map((port) => ({ protocol: "TCP", port }));

/** Pods of the Shoot's namespace. */
export const podsWith = (matchLabels: PodLabels): Peer => ({ podSelector: { matchLabels } });
