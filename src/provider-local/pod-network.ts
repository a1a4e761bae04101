import { createController, createReflector, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import type { Machines } from "../local/machine.ts";
import type { MachineNetwork } from "../local/network-cni.ts";
import type { Node } from "./nodes.ts";
import type { ShootAccess } from "./shoot-access.ts";
import { NAMESPACE_LABEL } from "./worker-machines.ts";

/** Keeps the pod networks of Shoots' machines in step with their Nodes, as long as they are started. */
export interface PodNetworks {
  /** Starts, or goes on with another pod range; it waits by itself until the Shoot has an API server. */
  start(namespace: string, podCIDR: string): Promise<void>;
  /** Stops acting; what is configured stays. */
  stop(namespace: string): Promise<void>;
  stopAll(): Promise<void>;
}

/** One loop per Shoot: a watch of its Nodes; each change configures the machines that it concerns. */
export function createPodNetworks(deps: { machines: Machines; shoots: ShootAccess; log: Logger }): PodNetworks {
  const running = new Map<string, { podCIDR: string; stop: () => Promise<void> }>();

  async function stop(namespace: string): Promise<void> {
    const network = running.get(namespace);
    running.delete(namespace);
    await network?.stop();
  }

  return {
    async start(namespace, podCIDR) {
      if (running.get(namespace)?.podCIDR === podCIDR) return;
      await stop(namespace);
      running.set(namespace, { podCIDR, stop: startLoop(deps, namespace, podCIDR) });
    },
    stop,
    stopAll: async () => void (await Promise.all([...running.keys()].map(stop))),
  };
}

/** What each machine must be told, by its name: nodes without a pod range, or without a machine, are nobody's peers yet. */
export function planNetworks(
  nodes: readonly Node[],
  addresses: ReadonlyMap<string, string>,
  clusterPodCIDR: string,
): Map<string, MachineNetwork> {
  const members = nodes.flatMap(({ metadata: { name }, spec }) => {
    const [podCIDR, address] = [spec?.podCIDR, addresses.get(name)];
    return podCIDR === undefined || address === undefined ? [] : [{ name, podCIDR, address }];
  });
  members.sort((a, b) => (a.name < b.name ? -1 : 1));
  return new Map(
    members.map(({ name, podCIDR }) => {
      const peers = members
        .filter((peer) => peer.name !== name)
        .map((peer) => ({ podCIDR: peer.podCIDR, address: peer.address }));
      return [name, { podCIDR, clusterPodCIDR, peers }];
    }),
  );
}

/** The one key of the loop's queue is the Shoot; a failure comes back by the queue, a new kubeconfig by the re-check. */
function startLoop(
  { machines, shoots, log: parent }: { machines: Machines; shoots: ShootAccess; log: Logger },
  namespace: string,
  clusterPodCIDR: string,
): () => Promise<void> {
  const log = parent.child({ namespace });
  const applied = new Map<string, string>();
  let watched: { client: KubeClient; stop: () => Promise<void> } | undefined;

  const queue = createController({ name: "pod-network", log, reconcile: sync });
  const key = { name: namespace };

  async function sync(): Promise<{ requeueAfter: number }> {
    const client = await shoots.open(namespace);
    await watch(client);
    const nodes = await client.list<Node>({ apiVersion: "v1", kind: "Node" });
    const present = await machines.list({ [NAMESPACE_LABEL]: namespace });
    const addresses = new Map(present.map(({ name, address }) => [name, address]));
    for (const [name, network] of planNetworks(nodes, addresses, clusterPodCIDR)) {
      const wanted = `${present.find((machine) => machine.name === name)?.createdAt} ${JSON.stringify(network)}`;
      if (applied.get(name) === wanted) continue;
      await machines.configureNetwork(name, network);
      applied.set(name, wanted);
      log.info({ machine: name, podCIDR: network.podCIDR, peers: network.peers.length }, "pod network configured");
    }
    return { requeueAfter: recheck };
  }

  async function watch(client: KubeClient): Promise<void> {
    if (watched?.client === client) return;
    await watched?.stop();
    const reflector = createReflector<Node>(
      client,
      { apiVersion: "v1", kind: "Node" },
      {
        log,
        onEvent: ({ type, object, old }) => {
          if (type !== "updated" || object.spec?.podCIDR !== old?.spec?.podCIDR) queue.enqueue(key);
        },
      },
    );
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
