import type { StepScope } from "../../in-process/run.ts";
import { isNotFound, KubeError, Node, Pod, refOf, refTo, type KubeClient } from "../../kube/index.ts";
import { until } from "../steps/until.ts";

/** In ms: a PodDisruptionBudget may hold pods for as long as their successors take. */
const LONGEST_DRAIN = 600_000;

/**
 * Lets no new pod onto the node, and has those that are there go by evictions, which heed PodDisruptionBudgets; those of DaemonSets and
 * static pods stay. Throws an OperatorError that names the pods which did not go within ten minutes.
 */
export async function drain(client: KubeClient, name: string, scope: StepScope): Promise<void> {
  const node = refTo(Node, { name });
  if ((await client.read(node)) === undefined) return;
  await client.patch(node, { spec: { unschedulable: true } });
  const advice = `see what holds them with 'kubectl get poddisruptionbudgets --all-namespaces', or delete them`;
  await until(
    `pods have not left node ${name}`,
    scope,
    async () => {
      const pods = (await client.list(Pod, { fieldSelector: `spec.nodeName=${name}` })).filter(isMovable);
      const held = (await Promise.all(pods.map(async (pod) => await evict(client, pod)))).filter((one) => one !== "");
      return pods.length === 0 || (held.length === 0 ? `${pods.length} are still there` : held.join("; "));
    },
    { advice, atMost: LONGEST_DRAIN },
  );
}

/** A pod that is done has no work left; those of DaemonSets come back at once, and static ones are the machine's. */
function isMovable({ metadata, status }: Pod): boolean {
  const owners = (metadata["ownerReferences"] ?? []) as readonly { readonly kind: string }[];
  const isBound = owners.some(({ kind }) => kind === "DaemonSet" || kind === "Node");
  const isMirror = metadata.annotations?.["kubernetes.io/config.mirror"] !== undefined;
  return !isBound && !isMirror && status?.phase !== "Succeeded" && status?.phase !== "Failed";
}

/** What holds the pod; empty where it goes. */
async function evict(client: KubeClient, pod: Pod): Promise<string> {
  if (pod.metadata.deletionTimestamp !== undefined) return "";
  const { name, namespace } = pod.metadata;
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } };
  try {
    await client.createSubresource(refOf(pod), "eviction", eviction);
    return "";
  } catch (error) {
    if (isNotFound(error)) return "";
    if (error instanceof KubeError && error.status === 429)
      return `${namespace}/${name} is held by its PodDisruptionBudget`;
    throw error;
  }
}
