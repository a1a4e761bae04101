import { createServer } from "node:net";
import type { NodeRole } from "../../api/names.ts";
import { etcdPorts, HOST_PORTS } from "../../components/index.ts";
import { extensionPorts } from "../cluster/extension-ports.ts";
import { carriesControlPlane, type Candidate } from "./candidate.ts";
import { holdersOf } from "./port-holders.ts";

/** Kubelet and its health, kube-proxy's health. */
const NODE_PORTS = [10248, 10250, 10256];

/** API server, controller manager, scheduler. */
const PROGRAM_PORTS = [443, 10257, 10259];

/** Where programs of a cluster listen on a machine: those that no machine can be without, and those of its control plane. */
export function portsOf(role: NodeRole, extensions: number): number[] {
  if (!carriesControlPlane(role)) return NODE_PORTS;
  const etcd = [etcdPorts("main", { nodes: [] }), etcdPorts("events", { nodes: [] })];
  const ofExtensions = Array.from({ length: extensions }, (_, index) => extensionPorts(index));
  const named = [...etcd, ...Object.values(HOST_PORTS)].flatMap((ports) => Object.values(ports));
  return [...PROGRAM_PORTS, ...named, ...NODE_PORTS, ...ofExtensions.flat()].toSorted((one, other) => one - other);
}

/** Which ports of this role other programs have, and which programs these are. */
export async function portFaults(
  { root, demands }: Pick<Candidate, "root" | "demands">,
  role: NodeRole,
): Promise<string[]> {
  return await takenFaults(root, portsOf(role, demands?.extensions ?? 0));
}

/** Which of these ports are taken, and by which programs. */
export async function takenFaults(root: string, ports: readonly number[]): Promise<string[]> {
  const tried = await Promise.all(ports.map(async (port) => ((await isTaken(port)) ? [port] : [])));
  const taken = tried.flat();
  if (taken.length === 0) return [];
  const holders = await holdersOf(root, taken);
  const named = taken.map((port) => `${port} (${holders.get(port) ?? "unknown"})`);
  return [`these ports are taken: ${named.join(", ")}: end the processes that have them`];
}

/** On any address: a program of ours that listens on all of them could not. */
async function isTaken(port: number): Promise<boolean> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "EADDRINUSE"));
    server.listen(port, () => server.close(() => resolve(false)));
  });
}
