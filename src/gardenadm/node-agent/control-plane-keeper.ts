import { RENEWAL_UNIT } from "../../api/names.ts";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../../log.ts";
import type { Machine } from "../../node-agent/perform.ts";
import { dueCertificates } from "../machine/certificates.ts";
import type { AgentIdentity } from "../machine/agent-identity.ts";
import { isThere } from "../machine/is-there.ts";
import { followBackupAccess } from "./backup-access-watch.ts";
import { watchExposure } from "./exposure-watch.ts";
import { watchWorkloads } from "./workload-watch.ts";
import { createClusterClient } from "../cluster/client.ts";

/** What the agent of a control-plane node does besides. */
export interface KeeperDeps {
  readonly identity: AgentIdentity;
  readonly machine: Machine;
  readonly log: Logger;
  /** In ms since 1970. */
  now(): number;
}

/** In ms: a day, and how long it takes to look for an administrator's kubeconfig again. */
const DAILY = 86_400_000;
const RECHECK = 10_000;

/**
 * Begins what a cluster that no operator looks after needs of its control-plane nodes; nothing on a worker. As administrator:
 * - it approves the certificates of nodes;
 * - it keeps static pods as their workloads stand in the cluster;
 * - it leads to healthy nodes from elsewhere;
 * - it says by conditions how the cluster is.
 *
 * And on its machine:
 * - it keeps how the backups are reached;
 * - once a day it starts the renewal, where a certificate has less than a fifth of its life left;
 * - where an etcd has lost its data, it brings back the last backup, or what the other members have.
 */
export function keepControlPlane(deps: KeeperDeps): { stop(): Promise<void> } {
  const ending = new AbortController();
  const { signal } = ending;
  if (deps.identity.configuration.role !== "control-plane") return { stop: async () => {} };
  const duties = [approve(deps, signal), watch(deps, signal), renewDaily(deps, signal), guard(deps, signal)];
  return {
    async stop() {
      ending.abort(new Error("the agent ends"));
      await Promise.all(duties);
    },
  };
}

async function approve({ identity: { adminKubeconfig }, log }: KeeperDeps, signal: AbortSignal): Promise<void> {
  if (!(await appears(adminKubeconfig, signal))) return;
  const { createNodeApprover } = await import("../node-access/approver.ts");
  const client = createClusterClient({ file: adminKubeconfig }, { userAgent: "gardener-node-agent", log });
  const approver = createNodeApprover(client, log);
  approver.start();
  await untilAborted(signal);
  await approver.stop();
  await client.close();
}

async function watch({ identity, log }: KeeperDeps, signal: AbortSignal): Promise<void> {
  const { adminKubeconfig, configuration, node: hostName, root } = identity;
  if (!(await appears(adminKubeconfig, signal))) return;
  const client = createClusterClient({ file: adminKubeconfig }, { userAgent: "gardener-node-agent", log });
  const { watchConditions } = await import("./condition-watch.ts");
  await Promise.all([
    watchConditions({ client, hostName, log }, signal),
    watchWorkloads({ client, secretName: configuration.secretName, hostName, log }, signal),
    watchExposure({ client, hostName, log }, signal),
    followBackupAccess({ client, root, log }, signal),
  ]);
  await client.close();
}

/** Waits for a file; false where it is stopped before. */
async function appears(file: string, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted && !(await isThere(file))) await delay(RECHECK, undefined, { signal }).catch(() => {});
  return !signal.aborted;
}

async function renewDaily({ identity: { root }, machine, log, now }: KeeperDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const due = await dueCertificates(root, now());
      if (due.length > 0) {
        log.info({ due }, "certificates are to be renewed");
        await machine.systemctl(["start", "--no-block", RENEWAL_UNIT], signal);
      }
    } catch (error) {
      if (!signal.aborted) log.error({ err: error }, "renewal not started");
    }
    await delay(DAILY, undefined, { signal }).catch(() => {});
  }
}

async function guard({ identity, log }: KeeperDeps, signal: AbortSignal): Promise<void> {
  const { guardData } = await import("../mending/data-guard.ts");
  await guardData({ identity, log, signal });
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
