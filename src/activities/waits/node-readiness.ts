import { listed } from "../../api/counted.ts";
import { POOL_LABEL } from "../../api/labels.ts";
import type { Worker } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootOperation } from "../../api/shoot/run.ts";
import { isReady, type Readiness } from "./readiness.ts";

/**
 * Whether an operation has the nodes that it is to end with. A Shoot that is made or brought back has the minimum of each
 * pool. One that is reconciled may have lost nodes, which is what its condition EveryNodeReady says: a single one will do.
 */
export function nodesReady(
  nodes: readonly KubeObject[],
  pools: Worker["spec"]["pools"],
  operation: ShootOperation,
): Readiness {
  const byPool = Map.groupBy(nodes, ({ metadata }) => metadata.labels?.[POOL_LABEL]);
  const states = pools
    .filter(({ minimum }) => minimum > 0)
    .map(({ name, minimum }) => {
      const members = byPool.get(name) ?? [];
      const unready = members.filter((node) => !isReady(node)).map(({ metadata }) => metadata.name);
      return { name, minimum, unready: unready.sort(), ready: members.length - unready.length };
    });
  const usable = operation === "Reconcile" && states.some(({ ready }) => ready > 0);
  const lacking = usable ? [] : states.filter(({ ready, minimum }) => ready < minimum);
  return lacking.length === 0 ? { reached: true } : { reached: false, message: lacking.map(inWords).join("; ") };
}

function inWords({ name, minimum, ready, unready }: PoolState): string {
  const why = unready.length > 0 ? ` (not ready: ${listed(unready, MOST_NAMED)})` : "";
  return `pool ${name} has ${ready} of ${minimum} ready nodes${why}`;
}

/** Users of a Shoot make as many nodes as they like, and the message is a step's, in the status of the Shoot. */
const MOST_NAMED = 10;

interface PoolState {
  readonly name: string;
  readonly minimum: number;
  readonly ready: number;
  /** The names of nodes that have joined and are not ready. */
  readonly unready: readonly string[];
}
