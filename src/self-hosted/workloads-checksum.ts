import type { KubeObject } from "../api/index.ts";
import { hashOf } from "./hash.ts";

interface Workload {
  readonly template?: unknown;
  readonly volumeClaimTemplates?: unknown;
}

/** Tells whether static pods are to be made anew: of all that stands in these Deployments and StatefulSets, what their pods are made from. */
export function workloadsChecksum(workloads: readonly KubeObject[]): string {
  const made = workloads.map(({ kind, metadata: { name }, spec }) => {
    const { template, volumeClaimTemplates } = (spec ?? {}) as Workload;
    return { key: `${kind}/${name}`, template, claims: volumeClaimTemplates };
  });
  return hashOf(made.toSorted((one, other) => (one.key < other.key ? -1 : 1)));
}
