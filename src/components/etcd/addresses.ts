import type { ControlPlaneContext, ControlPlaneNode } from "../context.ts";
import { urlHost } from "../networks.ts";

/** Which of a Shoot's etcds: `main` for everything, `events` for events. */
export type EtcdRole = "main" | "events";

/** Both of a control plane's etcds. */
export const ETCDS: readonly EtcdRole[] = ["main", "events"];

/** The ports of an etcd; where nodes carry the control plane, both of a node's etcds share its network. */
export function etcdPorts(role: EtcdRole, { nodes }: Pick<ControlPlaneContext, "nodes">) {
  const client = nodes !== undefined && role === "events" ? 2382 : 2379;
  return { client, peer: client + 1, metrics: client + 2 };
}

/** Where the API server finds an etcd: behind its Service, or beside itself on its node. */
export function etcdClientUrl(role: EtcdRole, context: Pick<ControlPlaneContext, "nodes">): string {
  const host = context.nodes === undefined ? `etcd-${role}-client` : "localhost";
  return `https://${host}:${etcdPorts(role, context).client}`;
}

/** Where an etcd on a node says, to its own machine only, whether it is ready. */
export const etcdHealthUrl = (role: EtcdRole): string =>
  `http://127.0.0.1:${etcdPorts(role, { nodes: [] }).metrics}/readyz`;

/** A URL at the address by which a node's peers reach it: the first of its addresses. */
export function nodeUrl({ addresses: [address] }: ControlPlaneNode, port: number): string {
  return `https://${urlHost(address)}:${port}`;
}
