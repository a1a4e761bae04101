import { setTimeout as sleep } from "node:timers/promises";
import { MIRROR_POD_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/index.ts";
import type { ActuatorContext } from "../../extension/index.ts";
import { Node, Pod, refTo, type KubeClient } from "../../kube/index.ts";

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

/**
 * Takes a machine out of a Shoot: no new pods, the running ones moved, the machine removed, its Node too. What only the
 * Shoot's API server can do is left out when that doesn't answer: a machine must be removable without it.
 */
export async function retireNode(
  open: () => Promise<KubeClient>,
  name: string,
  { signal, log }: Pick<ActuatorContext, "signal" | "log">,
  removeMachine: () => Promise<void>,
): Promise<void> {
  const ref = refTo(Node, { name });
  const bestEffort = async (work: (shootClient: KubeClient) => Promise<void>) => {
    try {
      await work(await open());
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ machine: name, err: error }, "machine is retired without its Shoot's API server");
    }
  };
  await bestEffort(async (shootClient) => {
    if (!(await shootClient.read(ref))) return;
    await shootClient.patch(ref, { spec: { unschedulable: true } });
    await drain(shootClient, name, signal);
  });
  await removeMachine();
  await bestEffort((shootClient) => shootClient.remove(ref));
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
