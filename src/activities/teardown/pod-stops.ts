import { ROLE_LABEL } from "../../api/labels.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { inWords, Pod, refOf, typeMeta, unlessGone, type KubeClient, type Workload } from "../../kube/index.ts";
import { fenced } from "../leadership/fenced-client.ts";
import type { WaitTarget } from "../index.ts";
import { poll, type PollOptions } from "../poll.ts";
import { ended } from "../waits/readiness.ts";
import type { WaitGroup, Waits } from "../waits/waits.ts";

/**
 * Waits until pods have ended, one by one: a Deployment counts no pod that is going, and an API server that is going still
 * serves. Pods of the control plane are waited for like everything else; others, which no watch sees, are polled.
 */
export function createPodStops({
  seedClient,
  waits,
  polling,
}: {
  seedClient: KubeClient;
  waits: Waits;
  polling: PollOptions;
}) {
  const list = (namespace: string, labelSelector?: string) =>
    seedClient.list(Pod, { namespace, ...(labelSelector === undefined ? {} : { labelSelector }) });

  /** Returns when the watch has seen the pod: what it has not seen it takes for ended. */
  const seen = (target: WaitTarget, namespace: string) =>
    poll(polling, async () => {
      if (!waits.readiness(target).reached) return undefined;
      const pods = await list(namespace);
      return pods.some((pod) => pod.metadata.name === target.name && isAlive(pod))
        ? `cannot wait for Pod ${namespace}/${target.name}: it has not been seen`
        : undefined;
    });

  const waitForOne = async (run: ShootRun, pod: Pod, group: WaitGroup): Promise<WaitTarget[]> => {
    const target = targetOf(pod);
    const annotations = group.registration(target, pod.metadata.uid);
    const patched = await unlessGone(fenced(seedClient, run).patch(refOf(pod), { metadata: { annotations } }));
    if (patched === undefined) return [];
    await seen(target, run.technicalID);
    return [target];
  };

  const waitFor = async (run: ShootRun, pods: readonly Pod[], step: string): Promise<WaitTarget[]> => {
    const group = waits.group(step, pods.length);
    return (await Promise.all(pods.map((pod) => waitForOne(run, pod, group)))).flat();
  };

  const podsOf = async (namespace: string, { spec }: Workload): Promise<readonly Pod[]> => {
    const labels = Object.entries(spec.selector.matchLabels ?? {}).map(([name, value]) => `${name}=${value}`);
    return (await list(namespace, labels.join(","))).filter(isAlive);
  };

  return {
    /** The pods that workloads still have; more must not come. */
    async ofWorkloads(run: ShootRun, workloads: readonly Workload[], step: string): Promise<WaitTarget[]> {
      const pods = await Promise.all(workloads.map((workload) => podsOf(run.technicalID, workload)));
      return await waitFor(run, pods.flat(), step);
    },

    /** All pods of the namespace; deletes those that are not being deleted yet. */
    async ofNamespace(run: ShootRun, step: string): Promise<WaitTarget[]> {
      const alive = async () => (await list(run.technicalID)).filter(isAlive);
      await poll(polling, async () => {
        const [first, ...others] = (await alive()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
        if (first === undefined) return undefined;
        for (const pod of [first, ...others]) await fenced(seedClient, run).remove(refOf(pod));
        return `cannot stop ${inWords(refOf(first))}: another client makes it again`;
      });
      await poll({ ...polling, timeout: UNWATCHED }, async () => {
        const [first] = (await alive()).filter((pod) => !isWatched(pod));
        return first && `cannot stop ${inWords(refOf(first))}: it is going, and not gone yet`;
      });
      return await waitFor(run, await alive(), step);
    },
  };
}

/** In ms; below the time that an activity has. */
const UNWATCHED = 300_000;

const isAlive = (pod: Pod): boolean => !ended(pod).reached;

const isWatched = ({ metadata }: Pod): boolean => metadata.labels?.[ROLE_LABEL] === "controlplane";

function targetOf({ metadata: { name, namespace } }: Pod): WaitTarget {
  return {
    ...typeMeta(Pod),
    name,
    ...(namespace === undefined ? {} : { namespace }),
    until: "ended",
    severeAfter: 300_000,
    deadline: 300_000,
  };
}
