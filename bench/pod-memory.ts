import { Node, type KubeClient } from "../src/kube/index.ts";

/** What a kubelet says of its pods, as far as it is read here. */
interface Summary {
  readonly pods?: readonly {
    readonly podRef: { readonly name: string; readonly namespace: string };
    readonly memory?: { readonly workingSetBytes?: number };
  }[];
}

/** A pod's memory. */
export interface PodMemory {
  readonly namespace: string;
  readonly name: string;
  /** Its cgroup's working set: what is in use and cannot be dropped. */
  readonly bytes: number;
}

/** The memory of all pods of a cluster, by what its kubelets say. */
export async function readPodMemory(client: KubeClient): Promise<readonly PodMemory[]> {
  const nodes = await client.list(Node);
  const summaries = nodes.map(({ metadata }) => client.get(`/api/v1/nodes/${metadata.name}/proxy/stats/summary`));
  return ((await Promise.all(summaries)) as Summary[]).flatMap(({ pods = [] }) =>
    pods.map(({ podRef, memory }) => ({ ...podRef, bytes: memory?.workingSetBytes ?? 0 })),
  );
}

/** A pod's name without what its ReplicaSet, DaemonSet or StatefulSet has added: the name of its workload. */
export const workloadOf = (pod: string): string => pod.replace(/(-[0-9a-f]{6,10})?-[0-9a-z]{5}$|-\d+$/, "");
