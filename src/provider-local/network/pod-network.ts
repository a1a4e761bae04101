import { MACHINE_NAMESPACE_LABEL } from "../../api/labels.ts";
import { createController, createReflector, Node, type KubeClient } from "../../kube/index.ts";
import { leadershipOf } from "../../api/extensions/leadership.ts";
import type { Network } from "../../api/index.ts";
import type { Guard } from "../../extension/index.ts";
import type { Logger } from "../../log.ts";
import type { Machines } from "../../local/machine/machines.ts";
import { permitted } from "../permitted.ts";
import type { ShootAccess } from "../shoot-access.ts";
import { planNetworks } from "./plan.ts";

/** Keeps the pod networks of Shoots' machines in step with their Nodes, as long as they are started. */
export interface PodNetworks {
  /** Starts, or goes on with another pod range; it waits by itself until the Shoot has an API server. */
  start(network: Network): Promise<void>;
  /** Stops acting; what is configured stays. */
  stop(namespace: string): Promise<void>;
  stopAll(): Promise<void>;
}

interface PodNetworkDeps {
  readonly machines: Machines;
  readonly shoots: ShootAccess;
  readonly guard: Guard;
  readonly log: Logger;
}

/** One loop per Shoot: a watch of its Nodes; each change configures the machines that it concerns. */
export function createPodNetworks(deps: PodNetworkDeps): PodNetworks {
  const running = new Map<string, { spec: string; stop: () => Promise<void> }>();

  async function stop(namespace: string): Promise<void> {
    const network = running.get(namespace);
    running.delete(namespace);
    await network?.stop();
  }

  return {
    async start(network) {
      const { namespace } = network.metadata;
      const spec = JSON.stringify([network.spec.podCIDR, leadershipOf(network)]);
      if (running.get(namespace)?.spec === spec) return;
      await stop(namespace);
      running.set(namespace, { spec, stop: startLoop(deps, network) });
    },
    stop,
    stopAll: async () => void (await Promise.all([...running.keys()].map(stop))),
  };
}

/** The one key of the loop's queue is the Shoot; a failure comes back by the queue, a new kubeconfig by the re-check. */
function startLoop({ machines, shoots, guard, log: parent }: PodNetworkDeps, object: Network): () => Promise<void> {
  const { namespace } = object.metadata;
  const clusterPodCIDR = object.spec.podCIDR;
  const log = parent.child({ namespace });
  const applied = new Map<string, string>();
  let watched: { client: KubeClient; stop: () => Promise<void> } | undefined;

  const queue = createController({ name: "pod-network", log, reconcile: sync });
  const key = { name: namespace };

  async function sync(): Promise<{ requeueAfter: number }> {
    const client = await shoots.open(namespace);
    await watch(client);
    const nodes = await client.list(Node);
    const present = await machines.list({ [MACHINE_NAMESPACE_LABEL]: namespace });
    const addresses = new Map(present.map(({ name, address }) => [name, address]));
    for (const [name, network] of planNetworks(nodes, addresses, clusterPodCIDR)) {
      const wanted = `${present.find((machine) => machine.name === name)?.createdAt} ${JSON.stringify(network)}`;
      if (applied.get(name) === wanted) continue;
      await permitted(guard, { object, cluster: undefined, type: "Reconcile" }, async (permit) => {
        permit.check();
        await machines.configureNetwork(name, network);
      });
      applied.set(name, wanted);
      log.info({ machine: name, podCIDR: network.podCIDR, peers: network.peers.length }, "pod network configured");
    }
    return { requeueAfter: recheck };
  }

  async function watch(client: KubeClient): Promise<void> {
    if (watched?.client === client) return;
    await watched?.stop();
    const reflector = createReflector(client, Node, {
      log,
      onEvent: ({ type, object, old }) => {
        if (type !== "updated" || object.spec?.podCIDR !== old?.spec?.podCIDR) queue.enqueue(key);
      },
    });
    watched = { client, stop: () => reflector.stop() };
    reflector.start();
  }

  queue.enqueue(key);
  queue.start();
  return async () => {
    await queue.stop();
    await watched?.stop();
  };
}

/** Milliseconds after which a Shoot is looked at again although its Nodes didn't change. */
const recheck = 60_000;
