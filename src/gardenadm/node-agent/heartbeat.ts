import { setTimeout as delay } from "node:timers/promises";
import { nodeAgentLeaseName, SYSTEM_NAMESPACE } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client.ts";
import { Lease } from "../../kube/kinds.ts";
import { reasonOf } from "../../node-agent/perform.ts";
import { microTime } from "../../kube/time.ts";
import type { Logger } from "../../log.ts";
import { isAway } from "../cluster/away.ts";

/** In ms; a Lease that was not renewed for four times as long is one of an agent that is not at work. */
const EVERY = 10_000;

/**
 * Renews the Lease by which the agent of a node says that it is at work, until it is stopped. The Lease is the cluster's to
 * make. That the API server is away is told when it begins and when it is over; any other failure, once for each reason.
 */
export async function beat(
  client: KubeClient,
  node: string,
  { log, signal, every = EVERY }: { readonly log: Logger; readonly signal: AbortSignal; readonly every?: number },
): Promise<void> {
  const key = { namespace: SYSTEM_NAMESPACE, name: nodeAgentLeaseName(node) };
  let lease: Lease | undefined;
  let said: string | undefined;
  while (!signal.aborted) {
    try {
      lease ??= await client.read(Lease, key);
      if (lease === undefined) throw new Error(`Lease ${key.namespace}/${key.name} does not exist`);
      const ours = { holderIdentity: node, leaseDurationSeconds: (4 * EVERY) / 1000, renewTime: microTime() };
      lease = await client.replace<Lease>({ ...lease, spec: { ...lease.spec, ...ours } });
      if (said !== undefined) log.info(said === AWAY ? "the API server answers again" : "lease renewed again");
      said = undefined;
    } catch (error) {
      lease = undefined;
      if (signal.aborted) return;
      const reason = reasonOf(error);
      const words = isAway(error) ? AWAY : reason;
      if (words !== said) log.warn({ reason }, words === AWAY ? AWAY : "lease not renewed");
      said = words;
    }
    await delay(every, undefined, { signal }).catch(() => {});
  }
}

const AWAY = "the API server does not answer, which is tried again until it does";
