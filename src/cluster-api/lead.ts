import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { hostname } from "node:os";
import { createLeaseElector, type LeaseElector, type LeaseTiming } from "../kube/index.ts";
import type { ClusterApiDeps, Part } from "./part.ts";
import { createWatches } from "./watches.ts";

/** What runs in the leader, and in which namespace of the management cluster its Lease is. */
export interface LeadOptions extends ClusterApiDeps {
  readonly namespace: string;
  readonly controllers: readonly ((deps: ClusterApiDeps) => Part)[];
  /** As client-go's unless told otherwise; only tests want another. */
  readonly timing?: LeaseTiming;
}

/** Of all replicas of the process, runs the controllers in one: the holder of Lease `perennial-cluster-api`. */
export function electLeader({ namespace, controllers, timing, ...deps }: LeadOptions): LeaseElector {
  return createLeaseElector({
    ...{ client: deps.management, log: deps.log, namespace, name: "perennial-cluster-api" },
    ...(timing === undefined ? {} : { timing }),
    identity: `${hostname()}_${randomUUID()}`,
    async lead(signal) {
      const watches = createWatches(deps);
      const parts = controllers.map((create) => create({ ...deps, watches }));
      for (const part of parts) part.start();
      if (!signal.aborted) await once(signal, "abort");
      await Promise.all(parts.map((part) => part.stop()));
    },
  });
}
