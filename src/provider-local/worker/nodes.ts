import { setTimeout as sleep } from "node:timers/promises";
import { MIRROR_POD_ANNOTATION } from "../../api/annotations.ts";
import { POOL_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/index.ts";
import type { ActuatorContext } from "../../extension/index.ts";
import { Node, Pod, refOf, refTo, type KubeClient } from "../../kube/index.ts";

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
 * left for {@link removeLeftNodes}.
 */
export async function retireNode(access: NodeAccess, name: string, removeMachine: () => Promise<void>): Promise<void> {
  const ref = refTo(Node, { name });
  await ifAnswered(access, async (shootClient) => {
    if (!(await shootClient.read(ref))) return;
    await shootClient.patch(ref, { spec: { unschedulable: true } });
    await drain(shootClient, name, access.signal);
  });
  await removeMachine();
  await ifAnswered(access, (shootClient) => shootClient.remove(ref));
}

/** Removes the Nodes of pools that have no machine: it was removed while the Shoot's API server did not answer, or this process died over it. */
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

/** Deletes the Node's pods and waits up to two minutes until its kubelet has ended them; those of DaemonSets and mirror pods stay. */
async function drain(shootClient: KubeClient, node: string, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + 120_000;
  const asked = new Set<string>();
  for (;;) {
    const pods = await shootClient.list(Pod, { fieldSelector: `spec.nodeName=${node}` });
    const left = pods.filter(isMovable);
    if (left.length === 0 || Date.now() > deadline) return;
    for (const { metadata } of left) {
      const { uid = "", namespace = "default" } = metadata;
      if (asked.has(uid)) continue;
      asked.add(uid);
      await shootClient.remove(refTo(Pod, { name: metadata.name, namespace }));
    }
    await sleep(1_000, undefined, { signal });
  }
}

function isMovable({ metadata }: KubeObject): boolean {
  if (metadata.annotations?.[MIRROR_POD_ANNOTATION] !== undefined) return false;
  return !metadata.ownerReferences?.some(({ kind, controller }) => kind === "DaemonSet" && controller);
}
