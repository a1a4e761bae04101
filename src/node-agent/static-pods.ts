import { setTimeout as delay } from "node:timers/promises";
import type { Following } from "./perform.ts";
import { reasonOf } from "./perform.ts";
import { tellNews } from "../tell-news.ts";

/** A static pod that is to run, as its manifest names it. */
export interface ExpectedPod {
  readonly namespace: string;
  readonly name: string;
  /** Of its manifest, which bears it in an annotation. */
  readonly hash: string;
  /** The names of its containers, without those that end before the others begin. */
  readonly containers: readonly string[];
}

/** A pod as a node has it now. */
export interface SeenPod {
  readonly namespace: string;
  /** For a static pod, with the node's name behind its own. */
  readonly name: string;
  readonly hash: string | undefined;
  /** Those that run. */
  readonly containers: readonly SeenContainer[];
}

/** A container that runs; only a kubelet knows whether it is ready. */
export interface SeenContainer {
  readonly name: string;
  readonly ready?: boolean;
}

/** How a node's static pods are waited for. */
export interface StaticPods {
  readonly nodeName: string;
  readonly expected: readonly ExpectedPod[];
  /** The pods of the node; throws while they cannot be read. */
  read(signal?: AbortSignal): Promise<readonly SeenPod[]>;
}

/** What of the expected pods does not run as it should, a sentence each; nothing when all run with the manifests' hashes. */
export function staticPodFaults(
  expected: readonly ExpectedPod[],
  seen: readonly SeenPod[],
  nodeName: string,
): readonly string[] {
  return expected.flatMap((pod) => {
    const fault = faultOf(pod, seen, `${pod.name}-${nodeName}`);
    return fault === undefined ? [] : [`static pod ${pod.namespace}/${pod.name} ${fault}`];
  });
}

/**
 * Returns once all expected pods run with their manifests' hashes; looks every second, and tells what is missing whenever
 * that changes. Where it is stopped before, it throws what was missing at last.
 */
export async function staticPodsRunning(
  { nodeName, expected, read }: StaticPods,
  { signal, tell = () => {} }: Following = {},
): Promise<void> {
  const tellMissing = tellNews(tell);
  for (;;) {
    const missing = await look(nodeName, expected, read, signal);
    if (missing === "") return;
    tellMissing(missing);
    await delay(1_000, undefined, signal === undefined ? {} : { signal }).catch(() => {});
    if (signal?.aborted === true)
      throw new Error(`${missing}; see "journalctl --unit kubelet.service"`, { cause: signal.reason });
  }
}

async function look(
  nodeName: string,
  expected: readonly ExpectedPod[],
  read: StaticPods["read"],
  signal: AbortSignal | undefined,
): Promise<string> {
  try {
    return staticPodFaults(expected, await read(signal), nodeName).join("; ");
  } catch (error) {
    return `the pods of this node cannot be read: ${reasonOf(error)}`;
  }
}

/** While it is replaced, the former pod may still be there beside it. */
function faultOf(expected: ExpectedPod, seen: readonly SeenPod[], name: string): string | undefined {
  const all = seen.filter((pod) => pod.namespace === expected.namespace && pod.name === name);
  const former = all.filter(({ hash, containers }) => hash !== expected.hash && containers.length > 0);
  if (former.length > 0) return "still runs with a former manifest";
  const pods = all.filter(({ hash }) => hash === expected.hash);
  if (pods.length === 0) return "was not started yet";
  const containers = pods.flatMap((pod) => pod.containers);
  const missing = expected.containers.filter((each) => !containers.some((container) => container.name === each));
  if (missing.length > 0) return `does not run its container ${missing.join(", ")}`;
  const unready = containers.filter(({ ready }) => ready === false).map((container) => container.name);
  return unready.length === 0 ? undefined : `is not ready: its container ${unready.join(", ")} is not`;
}
