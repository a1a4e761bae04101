import { setTimeout as sleep } from "node:timers/promises";
import { systemWorkloads } from "../../src/activities/waits/system-readiness.ts";
import { Node, type KubeClient } from "../../src/kube/index.ts";
import type { Logger } from "../../src/log.ts";

/** How often, in ms, the nodes of the Shoots say that they are there; real ones do it every ten seconds. */
const PERIOD = 1_000;

/**
 * Plays what the kubelets of the Shoots' nodes do all the time, in the one cluster behind all Shoots: they renew their
 * leases, and run what is deployed to them.
 */
export function startNodeLeases(shoots: KubeClient, log: Logger): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const renewAll = async () => {
    const nodes = await shoots.list(Node);
    await Promise.all(nodes.map(({ metadata }) => shoots.apply(leaseOf(metadata.name))));
    for (const ref of systemWorkloads) await sayThatItRuns(ref);
  };
  const sayThatItRuns = async (ref: (typeof systemWorkloads)[number]) => {
    const { generation } = (await shoots.read(ref))?.metadata ?? {};
    if (generation !== undefined)
      await shoots.patch(
        ref,
        { status: { observedGeneration: generation, ...onOneNode[ref.kind as keyof typeof onOneNode] } },
        { subresource: "status" },
      );
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

/** What the controllers say of a workload that runs on one node. */
const onOneNode = {
  DaemonSet: {
    desiredNumberScheduled: 1,
    currentNumberScheduled: 1,
    updatedNumberScheduled: 1,
    numberReady: 1,
    numberMisscheduled: 0,
  },
  Deployment: { replicas: 1, updatedReplicas: 1, readyReplicas: 1 },
} as const;

function leaseOf(name: string) {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace: "kube-node-lease" },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: new Date().toISOString().replace("Z", "000Z") },
  };
}
