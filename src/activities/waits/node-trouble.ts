import type { ErrorCode } from "../../api/error-codes.ts";
import { Worker } from "../../api/index.ts";
import { Node, Pod, type KubeClient } from "../../kube/index.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import { withoutSecrets } from "../../redaction.ts";
import { examineConstraints } from "../shoot/constraints.ts";
import { lastWords, podTrouble, type PodTrouble } from "./pod-trouble.ts";
import { isReady } from "./readiness.ts";
import { SYSTEM_NAMESPACE } from "./system-readiness.ts";

/** The clusters that are looked at: the Shoot's own, and the seed, where its control plane and its machines' controllers are. */
export interface NodeSights {
  readonly shootClient: Pick<KubeClient, "list">;
  readonly seedClient: Pick<KubeClient, "list">;
  /** The Shoot's namespace in the seed. */
  readonly namespace: string;
}

/**
 * Finds what keeps nodes, or what pods on them need, from being ready, the nearest cause first: the message of a node's kubelet,
 * a webhook that refuses nodes, what the controller of their machines reports, pods of kube-system, pods beside the control plane.
 * Undefined when there is none to see.
 */
export async function findNodeTrouble({
  shootClient,
  seedClient,
  namespace,
}: NodeSights): Promise<PodTrouble | undefined> {
  const nodes = await shootClient.list(Node, ofNodes);
  const unready = nodes.find((node) => !isReady(node));
  return (
    (unready && kubeletsWords(unready)) ??
    (await webhookTrouble(shootClient)) ??
    workersWords(await seedClient.list(Worker, { namespace })) ??
    within("kube-system of the Shoot", await shootClient.list(Pod, { ...ofPods, namespace: SYSTEM_NAMESPACE })) ??
    within(`namespace ${namespace} of the seed`, await seedClient.list(Pod, { namespace }))
  );
}

/** In characters of JSON. Users of a Shoot write its nodes and pods, as many and as large as they like. */
const most = 8_000_000;

const ofNodes = {
  most,
  keep: ({ apiVersion, kind, metadata: { name }, status }: Node): Node => ({
    ...{ apiVersion, kind, metadata: { name } },
    status: { conditions: status?.conditions?.filter(({ type }) => type === "Ready") ?? [] },
  }),
};

const ofPods = {
  most,
  keep: ({ apiVersion, kind, metadata, status = {} }: Pod): Pod => {
    const { name, namespace, creationTimestamp, deletionTimestamp } = metadata;
    const { conditions, containerStatuses, initContainerStatuses } = status;
    return {
      ...{ apiVersion, kind, spec: {} },
      metadata: { name, namespace, ...omitUndefined({ creationTimestamp, deletionTimestamp }) },
      status: omitUndefined({ conditions, containerStatuses, initContainerStatuses }),
    };
  },
};

/** A kubelet that is not ready says why; of one that is silent, the API server's controllers say so. */
function kubeletsWords({ metadata: { name }, status }: Node): PodTrouble | undefined {
  const { reason, message } = status?.conditions?.find(({ type }) => type === "Ready") ?? {};
  if (message === undefined || message === "") return undefined;
  return {
    about: `node ${name}`,
    message: `node ${name}: ${[reason, lastWords(message)].filter(Boolean).join(": ")}`,
    codes: [],
  };
}

/** Controllers of machines know of those that have not joined, by a condition that upstream's providers keep, too. */
function workersWords(workers: readonly Worker[]): PodTrouble | undefined {
  const { message } =
    workers
      .flatMap(({ status }) => status?.conditions ?? [])
      .find(({ type, status }) => type === "EveryNodeReady" && status === "False") ?? {};
  return message === undefined ? undefined : { about: "machines", message: lastWords(message), codes: [] };
}

async function webhookTrouble(shootClient: Pick<KubeClient, "list">): Promise<PodTrouble | undefined> {
  const readiness = await examineConstraints(shootClient);
  if (readiness.reached) return undefined;
  const codes: ErrorCode[] = ["ERR_PROBLEMATIC_WEBHOOK"];
  return { about: "webhooks", message: withoutSecrets(readiness.message), codes };
}

function within(place: string, pods: readonly Pod[]): PodTrouble | undefined {
  const trouble = podTrouble(pods);
  return trouble && { ...trouble, message: `${trouble.message} (${place})` };
}
