import { createController, createReflector, Node, now, typeMeta, type KubeClient } from "../../kube/index.ts";
import { applyNetwork, type Run } from "../../local/network/cni.ts";
import { enableForwarding, mtuOf } from "../../local/network/links.ts";
import type { Logger } from "../../log.ts";
import { internalAddress, planNode } from "../network/plan.ts";
import { NETWORK_CONDITION } from "./places.ts";

/** The node that an agent acts on, and what it acts with there. */
export interface NetworkAgentDeps {
  readonly client: KubeClient;
  /** The Node's name. */
  readonly node: string;
  /** The range of which all Nodes have theirs. */
  readonly clusterPodCIDR: string;
  readonly run: Run;
  readonly cniDir: string;
  /** The kernel's setting that lets it pass packets on. */
  readonly forwardingFile: string;
  readonly log: Logger;
}

/** A running network agent. */
export interface NetworkAgent {
  start(): void;
  /** Whether pods have a network, and the agent would hear of a Node that comes or goes. */
  ready(): boolean;
  /** Stops acting; what is configured stays. */
  stop(): Promise<void>;
}

/**
 * Keeps a node's pod network in step with the cluster's Nodes, and says by a condition of its Node when it is there. It looks
 * again once a minute, and puts right what others have changed. What it has configured works on without it.
 */
export function createNetworkAgent(deps: NetworkAgentDeps): NetworkAgent {
  const { client, node, clusterPodCIDR, run, cniDir, forwardingFile, log } = deps;
  let isConfigured = false;
  let told = "";
  const queue = createController({ name: "node-network", log, reconcile: sync, longestDelay: LONGEST_DELAY });
  const key = { name: node };
  const nodes = createReflector(client, Node, {
    log,
    keep: essentials,
    onEvent: ({ type, object, old }) => {
      if (type !== "updated" || old === undefined || concernOf(object) !== concernOf(old)) queue.enqueue(key);
    },
  });

  async function sync(): Promise<{ requeueAfter: number }> {
    await nodes.synced();
    const plan = planNode(nodes.list(), node, clusterPodCIDR);
    if (plan === undefined) {
      isConfigured = false;
      tell("waiting for the Node's range of pod addresses", {});
      return { requeueAfter: RECHECK };
    }
    const mtu = await mtuOf(run, plan.address);
    await enableForwarding(forwardingFile);
    await applyNetwork(run, cniDir, { ...plan.network, ...(mtu === undefined ? {} : { mtu }) });
    await sayAvailable();
    isConfigured = true;
    const { podCIDR, peers } = plan.network;
    tell("pod network configured", { podCIDR, peers: peers.length, mtu });
    return { requeueAfter: RECHECK };
  }

  /** Once, and again only when it has changed. */
  function tell(message: string, fields: object): void {
    const line = `${message} ${JSON.stringify(fields)}`;
    if (line !== told) log.info({ node, ...fields }, message);
    told = line;
  }

  /** Server-side apply of this one condition: the kubelet's stay as they are. */
  async function sayAvailable(): Promise<void> {
    const found = nodes.get(node);
    if (found === undefined || networkCondition(found) === "False") return;
    await client.applyStatus({
      ...typeMeta(Node),
      metadata: { name: node },
      status: {
        conditions: [
          {
            type: NETWORK_CONDITION,
            status: "False",
            reason: "PodNetworkConfigured",
            message: "routes and the configuration of pods' network are there",
            lastTransitionTime: now(),
            lastHeartbeatTime: now(),
          },
        ],
      },
    });
  }

  return {
    start() {
      nodes.start();
      queue.enqueue(key);
      queue.start();
    },
    ready: () => isConfigured && nodes.isCurrent(),
    async stop() {
      await Promise.all([queue.stop(), nodes.stop()]);
    },
  };
}

/** Milliseconds after which the node is looked at again although no Node has changed. */
const RECHECK = 60_000;

/** Milliseconds after which what failed is tried again, at most: pods wait for it. */
const LONGEST_DELAY = 10_000;

/** All that is kept of a Node: there may be thousands, and a kubelet writes what it likes into the status of its own. */
function essentials(node: Node): Node {
  const { apiVersion, kind, metadata, spec, status } = node;
  const address = internalAddress(node);
  const condition = status?.conditions?.find(({ type }) => type === NETWORK_CONDITION);
  return {
    ...{ apiVersion, kind, metadata: identityOf(metadata) },
    ...(spec?.podCIDR === undefined ? {} : { spec: { podCIDR: spec.podCIDR } }),
    status: {
      addresses: address === undefined ? [] : [{ type: "InternalIP", address }],
      conditions: condition === undefined ? [] : [{ type: condition.type, status: condition.status }],
    },
  };
}

/** The age says whose range of addresses it is that two Nodes have. */
const identityOf = ({ name, uid, resourceVersion, creationTimestamp }: Node["metadata"]): Node["metadata"] => ({
  name,
  ...(uid && { uid }),
  ...(resourceVersion && { resourceVersion }),
  ...(creationTimestamp && { creationTimestamp }),
});

/** What of a Node an agent acts upon. */
const concernOf = (node: Node): string =>
  JSON.stringify([node.metadata.uid, node.spec?.podCIDR, internalAddress(node), networkCondition(node)]);

const networkCondition = ({ status }: Node): string | undefined =>
  status?.conditions?.find(({ type }) => type === NETWORK_CONDITION)?.status;
