import { POOL_LABEL } from "../../api/labels.ts";
import type { Worker } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { isReady } from "../shoot/health.ts";
import type { Readiness } from "./readiness.ts";

/** Whether every pool has at least its minimum of nodes, and all of them are ready. */
export function nodesReady(nodes: readonly KubeObject[], pools: Worker["spec"]["pools"]): Readiness {
  const faults = pools.flatMap(({ name, minimum }) => {
    const members = nodes.filter(({ metadata }) => metadata.labels?.[POOL_LABEL] === name);
    const unready = members.filter((node) => !isReady(node));
    if (members.length < minimum) return [`pool ${name} has ${members.length} of ${minimum} nodes`];
    return unready.length > 0 ? [`node ${unready.map(({ metadata }) => metadata.name).join(", ")} is not ready`] : [];
  });
  return faults.length === 0 ? { reached: true } : { reached: false, message: faults.join("; ") };
}
