import { setTimeout as sleep } from "node:timers/promises";
import { MIRROR_POD_ANNOTATION } from "../../api/annotations.ts";
import { POOL_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/index.ts";
import type { ActuatorContext } from "../../extension/index.ts";
import { KubeError, Node, Pod, refOf, refTo, type KubeClient } from "../../kube/index.ts";

/** Resolves when the Node is Ready; throws after `timeout` milliseconds. */
export async function waitForNode(
  shootClient: KubeClient,
  name: string,
  signal: AbortSignal,
  timeout = 300_000,
): Promise<void> {
  const deadline = Date.now() + timeout;
  for (;;) {
    const node = await shootClient.read(Node, { name });
    const ready = node?.status?.conditions?.find(({ type }) => type === "Ready");
    if (ready?.status === "True") return;
    const why = node === undefined ? "it has not joined" : (ready?.message ?? "its kubelet has not reported");
    if (Date.now() > deadline) throw new Error(`Node ${name} is not ready after ${timeout / 1000} s: ${why}`);
    await sleep(1_000, undefined, { signal });
  }
}

/** The way to a Shoot's own API server, and the operation that goes it. */
export interface NodeAccess extends Pick<ActuatorContext, "signal" | "log"> {
  readonly open: () => Promise<KubeClient>;
}

/**
 * Takes a machine out of a Shoot: no new pods, the running ones moved, the machine removed, its Node too. What only the
 * Shoot's API server can do is left out when that doesn't answer: a machine must be removable without it. The Node is then
 * left for {@link removeLeftNodes}, and so is one that has come by this name since.
 */
export async function retireNode(
  access: NodeAccess,
  name: string,
  removeMachine: () => Promise<void>,
  drainTimeout = DRAIN_TIMEOUT,
): Promise<void> {
  const ref = refTo(Node, { name });
  let uid: string | undefined;
  await ifAnswered(access, async (shootClient) => {
    uid = (await shootClient.read(ref))?.metadata.uid;
    if (uid === undefined) return;
    await shootClient.patch(ref, { spec: { unschedulable: true } });
    await drain(shootClient, name, { signal: access.signal, timeout: drainTimeout });
  });
  await removeMachine();
  await ifAnswered(access, async (shootClient) => {
    if (uid !== undefined) await shootClient.remove(ref, { uid });
  });
}

/** Removes the Nodes of pools that have no machine: all were removed with the Worker, or one was while the Shoot's API server did not answer, or this process died over it. */
export async function removeLeftNodes(
  access: NodeAccess,
  machineNames: () => Promise<readonly string[]>,
): Promise<void> {
  await ifAnswered(access, async (shootClient) => {
    const nodes = await shootClient.list(Node, { labelSelector: POOL_LABEL });
    const machines = new Set(await machineNames()); // after the Nodes: a machine is there before its Node
    const left = nodes.filter(({ metadata }) => !machines.has(metadata.name));
    await Promise.all(left.map((node) => shootClient.remove(refOf(node), { uid: node.metadata.uid ?? "" })));
  });
}

async function ifAnswered(
  { open, signal, log }: NodeAccess,
  work: (shootClient: KubeClient) => Promise<void>,
): Promise<void> {
  try {
    await work(await open());
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error }, "a Shoot's Nodes are left as they are: its API server did not do what was asked");
  }
}

/** In ms: how long pods have to go from a machine. */
const DRAIN_TIMEOUT = 120_000;

/**
 * Evicts the Node's pods, as far as their disruption budgets allow, until its kubelet has ended them, or the timeout (ms)
 * is over. Those of DaemonSets and mirror pods stay.
 */
async function drain(
  shootClient: KubeClient,
  node: string,
  { signal, timeout }: { readonly signal: AbortSignal; readonly timeout: number },
): Promise<void> {
  const deadline = Date.now() + timeout;
  for (;;) {
    const pods = await shootClient.list(Pod, { fieldSelector: `spec.nodeName=${node}` });
    const left = pods.filter(isMovable);
    if (left.length === 0 || Date.now() > deadline) return;
    const running = left.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    await Promise.all(running.map((pod) => evict(shootClient, pod)));
    await sleep(1_000, undefined, { signal });
  }
}

/**
 * Asks for an eviction. One that is refused, by a disruption budget, a policy, or because the pod's namespace is being deleted, is for the
 * caller to ask for again, and keeps other pods from nothing.
 */
async function evict(shootClient: KubeClient, { metadata: { name, namespace, uid } }: Pod): Promise<void> {
  const eviction = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name, namespace },
    deleteOptions: { preconditions: { uid } },
  };
  try {
    await shootClient.createSubresource(refTo(Pod, { name, namespace }), "eviction", eviction);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
  }
}

function isMovable({ metadata }: KubeObject): boolean {
  if (metadata.annotations?.[MIRROR_POD_ANNOTATION] !== undefined) return false;
  return !metadata.ownerReferences?.some(({ kind, controller }) => kind === "DaemonSet" && controller);
}
