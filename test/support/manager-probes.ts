import { setTimeout as sleep } from "node:timers/promises";
import type { Environment } from "../../src/local/environment/environment.ts";
import { coreManagerName } from "../../src/local/cluster-api/core-manager.ts";
import { createPorts } from "../../src/local/process/ports.ts";

/** What the core manager's own probes of a Cluster's API server have come to, by its metrics. */
export interface ManagerProbes {
  /** What they have come to by now. */
  count(): ManagerProbeCount;
  /** Ends the count. */
  stop(): Promise<ManagerProbeCount>;
}

/** Probes since the count began; the manager asks every ten seconds, and takes five failures in a row for a loss. */
export interface ManagerProbeCount {
  readonly succeeded: number;
  readonly failed: number;
  /** From one success to the next, at most; in ms, half a second more or less. */
  readonly longestGap: number;
  /** How often the manager gave its connection up. */
  readonly disconnected: number;
}

/** Reads the metrics of an environment's core manager twice a second. */
export async function countManagerProbes(environment: Environment, cluster: string): Promise<ManagerProbes> {
  const read = async () => readCounts(await (await askManager(environment, "/metrics")).text(), cluster);
  const first = await read();
  let last = first;
  let gap = { since: Date.now(), longest: 0 };
  let disconnected = 0;
  let stopped = false;
  const look = async () => {
    const now = await read();
    gap = { ...gap, longest: Math.max(gap.longest, Date.now() - gap.since) };
    if (now.success > last.success) gap = { ...gap, since: Date.now() };
    if (last.up && !now.up) disconnected += 1;
    last = now;
  };
  const counting = (async () => {
    for (; !stopped; await sleep(500)) await look();
  })();
  const count = () => {
    const [succeeded, failed] = [last.success - first.success, last.error - first.error];
    return { succeeded, failed, longestGap: gap.longest, disconnected };
  };
  return {
    count,
    async stop() {
      stopped = true;
      await counting;
      return count();
    },
  };
}

/** In a sentence. */
export const renderProbes = ({ succeeded, failed, longestGap, disconnected }: ManagerProbeCount): string =>
  `the manager's own probes: ${failed} of ${succeeded + failed} failed, ${longestGap} ms at most from one success to the next, ` +
  `${disconnected} connections lost`;

/** Asks an environment's core manager at the address of its metrics, without credentials. */
export async function askManager(environment: Environment, path: string): Promise<Response> {
  const port = (await createPorts(environment).list())[`${coreManagerName}/metrics`];
  return await fetch(`http://127.0.0.1:${port}${path}`);
}

/** Of a Cluster that the manager has not probed yet, zero. */
function readCounts(metrics: string, cluster: string) {
  const valueOf = (metric: string, status = "") => {
    const line = metrics
      .split("\n")
      .find((one) => one.startsWith(`${metric}{`) && one.includes(`cluster_name="${cluster}"`) && one.includes(status));
    return Number(line?.split(" ").at(-1) ?? 0);
  };
  return {
    success: valueOf("capi_cluster_cache_healthchecks_total", 'status="success"'),
    error: valueOf("capi_cluster_cache_healthchecks_total", 'status="error"'),
    up: valueOf("capi_cluster_cache_connection_up") === 1,
  };
}
