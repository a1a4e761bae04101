import { setTimeout as delay } from "node:timers/promises";
import { nodeAgentLeaseName, SYSTEM_NAMESPACE } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client.ts";
import { Lease } from "../../kube/kinds.ts";
import { microTime } from "../../kube/time.ts";
import type { Logger } from "../../log.ts";

/** In ms; a Lease that was not renewed for four times as long is one of an agent that is not at work. */
const EVERY = 10_000;

/**
 * Renews the Lease by which the agent of a node says that it is at work, until it is stopped. The Lease is the cluster's to
 * make. What fails is told once for each reason, and tried again.
 */
export async function beat(client: KubeClient, node: string, log: Logger, signal: AbortSignal): Promise<void> {
  const key = { namespace: SYSTEM_NAMESPACE, name: nodeAgentLeaseName(node) };
  let lease: Lease | undefined;
  let said = "";
  while (!signal.aborted) {
    try {
      lease ??= await client.read(Lease, key);
      if (lease === undefined) throw new Error(`Lease ${key.namespace}/${key.name} does not exist`);
      const ours = { holderIdentity: node, leaseDurationSeconds: (4 * EVERY) / 1000, renewTime: microTime() };
      lease = await client.replace<Lease>({ ...lease, spec: { ...lease.spec, ...ours } });
      said = "";
    } catch (error) {
      lease = undefined;
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== said) log.warn({ reason }, "lease not renewed");
      said = reason;
    }
    await delay(EVERY, undefined, { signal }).catch(() => {});
  }
}
