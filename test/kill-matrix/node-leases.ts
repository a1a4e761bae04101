import { setTimeout as sleep } from "node:timers/promises";
import { Node, type KubeClient } from "../../src/kube/index.ts";
import type { Logger } from "../../src/log.ts";

/** How often, in ms, the nodes of the Shoots say that they are there; real ones do it every ten seconds. */
const PERIOD = 1_000;

/** Plays what the kubelets of the Shoots' nodes do all the time: they renew their leases in the one cluster behind all Shoots. */
export function startNodeLeases(shoots: KubeClient, log: Logger): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const renewAll = async () => {
    const nodes = await shoots.list(Node);
    await Promise.all(nodes.map(({ metadata }) => shoots.apply(leaseOf(metadata.name))));
  };
  const run = async () => {
    while (!stopping.signal.aborted) {
      await renewAll().catch((err: unknown) => log.warn({ err }, "nodes not heard of"));
      await sleep(PERIOD, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

function leaseOf(name: string) {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace: "kube-node-lease" },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: new Date().toISOString().replace("Z", "000Z") },
  };
}
