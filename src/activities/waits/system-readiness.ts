import type { KubeObject } from "../../api/schema/meta.ts";
import { DaemonSet, Deployment, refTo } from "../../kube/index.ts";
import { TUNNEL_AGENT } from "../../components/index.ts";
import { isReady, podsOf, type Readiness } from "./readiness.ts";

/** Where the Shoot's own workloads are. */
export const SYSTEM_NAMESPACE = "kube-system";

/** What pods on the Shoot's nodes cannot do without: Services, their names, and that the API server reaches them. */
export const systemWorkloads = [
  refTo(DaemonSet, { namespace: SYSTEM_NAMESPACE, name: "kube-proxy" }),
  refTo(Deployment, { namespace: SYSTEM_NAMESPACE, name: "coredns" }),
  refTo(Deployment, { namespace: SYSTEM_NAMESPACE, name: TUNNEL_AGENT }),
];

/**
 * Whether each of these runs somewhere, as its spec says now, once there is a ready node. That it does not run everywhere
 * is what the condition SystemComponentsHealthy says: one broken node must not keep an operation from its end. One that
 * is not there was not deployed.
 */
export function systemReady(nodes: readonly KubeObject[], workloads: readonly KubeObject[]): Readiness {
  if (!nodes.some(isReady)) return { reached: true };
  const lacking = workloads.filter((workload) => !runsSomewhere(workload));
  if (lacking.length === 0) return { reached: true };
  const names = lacking.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`);
  return { reached: false, message: `no node runs ${names.join(" and ")}` };
}

function runsSomewhere(workload: KubeObject): boolean {
  const { observedGeneration, wanted, updated, ready } = podsOf(workload);
  if (observedGeneration !== workload.metadata.generation) return false;
  return wanted === 0 || (updated > 0 && ready > 0);
}
