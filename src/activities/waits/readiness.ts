import { OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from "../../api/annotations.ts";
import { POOL_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ContainerStatus, Node, Pod } from "../../kube/index.ts";
import { omitUndefined } from "../../omit-undefined.ts";

/** How an object stands to what is waited for. `error` is what its controller reported, with codes. */
export type Readiness =
  | {
      readonly reached: true;
      /** What people should know all the same, in a sentence. */
      readonly note?: string;
    }
  | {
      readonly reached: false;
      readonly message: string;
      readonly error?: { readonly codes: readonly string[] };
      /** What is wrong, in a word of upstream's, where it has one. */
      readonly reason?: string;
      /** Whether it is reached cannot be told: who would know is silent. */
      readonly unknown?: boolean;
    };

/** An extension object's status and annotations, as far as readiness looks at them. */
export interface ExtensionLike extends KubeObject {
  readonly status?:
    | {
        readonly observedGeneration?: number | undefined;
        readonly lastError?:
          | {
              readonly description: string;
              readonly codes?: readonly string[] | undefined;
              readonly lastUpdateTime?: string | undefined;
            }
          | undefined;
        readonly lastOperation?:
          | {
              readonly type?: string;
              readonly state: string;
              readonly description?: string;
              readonly lastUpdateTime: string;
            }
          | undefined;
      }
    | undefined;
}

/** What an extension's controller was asked for: under which id, and whether to let go. */
export interface ExtensionRequest {
  readonly timestamp?: string | undefined;
  readonly asked?: "migrate" | "restore";
}

/**
 * Whether an extension's controller is done with this very operation: Gardener's health check, in its order, after
 * the operation's id was compared. An error of an earlier operation, which controllers keep until they succeed, does not
 * count. Equal seconds are no earlier, because controllers write times to the second.
 */
export function extensionReady(object: ExtensionLike, { timestamp, asked }: ExtensionRequest): Readiness {
  const { [TIMESTAMP_ANNOTATION]: stamp, [OPERATION_ANNOTATION]: operation } = object.metadata.annotations ?? {};
  const { lastOperation, observedGeneration } = object.status ?? {};
  if (timestamp !== undefined && stamp !== timestamp) return not("an older version of it was seen");
  const error = errorOf(object);
  if (error) return { reached: false, message: error.description, error: { codes: error.codes ?? [] } };
  if (observedGeneration !== object.metadata.generation) return not("its controller has not seen the latest spec");
  if (operation !== undefined) return not(`its controller has not taken up operation ${operation}`);
  if (asked !== undefined && (asked === "migrate") !== (lastOperation?.type === "Migrate"))
    return answeredOtherwise(asked, lastOperation);
  return succeeded(lastOperation, stamp);
}

/** The error that its controller has reported since it was asked last; one that says no time is as old as the last operation. */
export function errorOf({ metadata, status = {} }: ExtensionLike): Status["lastError"] {
  const { lastError, lastOperation } = status;
  const stamp = metadata.annotations?.[TIMESTAMP_ANNOTATION];
  return isBefore(lastError?.lastUpdateTime ?? lastOperation?.lastUpdateTime, stamp) ? undefined : lastError;
}

/** Upstream's controllers end a Migrate by taking away whatever is asked for by then: that has to be asked for again. */
function answeredOtherwise(asked: string, lastOperation: LastOperation): Readiness {
  const message = `it was asked to ${asked}, but its last operation is ${lastOperation?.type ?? "none"}`;
  return { reached: false, message, error: { codes: [] } };
}

/** Whether a Deployment, StatefulSet or DaemonSet runs what its spec says, and nothing older. */
export function rolledOut(object: KubeObject): Readiness {
  const { observedGeneration, wanted, updated, ready, all } = podsOf(object);
  if (observedGeneration !== object.metadata.generation) return not("its controller has not seen the latest spec");
  if (updated < wanted) return not(`${updated} of ${wanted} pods are of the latest version`);
  if (ready < wanted) return not(`${ready} of ${wanted} pods are ready`);
  return all > wanted ? not("pods of an older version still run") : { reached: true };
}

/**
 * Whether no container of a Pod runs any more, nor will. Its kubelet says so before it takes the Pod away; a Pod that is
 * gone has ended, too.
 */
export function ended(object: KubeObject): Readiness {
  const { status } = object as { status?: { phase?: string } };
  return status?.phase === "Succeeded" || status?.phase === "Failed" ? { reached: true } : not("its containers run");
}

/** Whether a Service of type LoadBalancer has an address. */
export function addressed(object: KubeObject): Readiness {
  return addressOf(object) === undefined ? not("it has no address yet") : { reached: true };
}

/** Whether a Job has done its work; one that failed is not tried again by itself. */
export function completed(object: KubeObject): Readiness {
  const { status } = object as { status?: { conditions?: readonly Condition[] } };
  const holds = (type: string) => status?.conditions?.find((one) => one.type === type && one.status === "True");
  if (holds("Complete")) return { reached: true };
  const failed = holds("Failed");
  if (!failed) return not("its pod has not finished");
  return { reached: false, message: `it failed: ${failed.message ?? failed.reason ?? ""}`, error: { codes: [] } };
}

/** Whether the Job has come to its end, well or not. */
export function hasEnded(job: KubeObject): boolean {
  const end = completed(job);
  return end.reached || end.error !== undefined;
}

/** The label by which a Job's controller knows the pods that it has made; a later Job of the same name has another. */
export const JOB_UID_LABEL = "batch.kubernetes.io/controller-uid";

/**
 * Whether the Pod has done what the Job of this uid is for. Its kubelet says that of the Pod a second after it has said it of
 * the last container, and the Job's controller counts it another second later.
 */
export function hasDoneJob(pod: KubeObject, uid: string | undefined): boolean {
  if (uid === undefined || pod.metadata.labels?.[JOB_UID_LABEL] !== uid) return false;
  const { spec = {}, status } = pod as Partial<Pick<Pod, "spec" | "status">>;
  return status?.phase === "Succeeded" || haveSucceeded(spec, status?.containerStatuses ?? []);
}

/** Whether every container has ended well, in a pod that starts none again. */
function haveSucceeded({ restartPolicy, containers = [] }: Pod["spec"], statuses: readonly ContainerStatus[]): boolean {
  const succeeded = new Set(
    statuses.filter(({ state }) => state?.terminated?.exitCode === 0).map((container) => container.name),
  );
  return restartPolicy === "Never" && containers.length > 0 && containers.every(({ name }) => succeeded.has(name));
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The first address of a Service of type LoadBalancer, IP before hostname. */
export function addressOf(object: KubeObject): string | undefined {
  const { status } = object as {
    status?: { loadBalancer?: { ingress?: readonly { ip?: string; hostname?: string }[] } };
  };
  const ingress = status?.loadBalancer?.ingress?.[0];
  return ingress?.ip ?? ingress?.hostname;
}

type Counts = Readonly<
  Partial<
    Record<
      | "replicas"
      | "observedGeneration"
      | "updatedReplicas"
      | "readyReplicas"
      | "desiredNumberScheduled"
      | "updatedNumberScheduled"
      | "numberReady",
      number
    >
  >
>;

/** How many pods a workload is to have, and has: of the latest version, ready, and altogether. */
export function podsOf(object: KubeObject) {
  const { spec = {}, status = {} } = object as { spec?: Counts; status?: Counts };
  const { observedGeneration, replicas = 0 } = status;
  if (object.kind === "DaemonSet") {
    const { desiredNumberScheduled: wanted = 0, updatedNumberScheduled: updated = 0, numberReady: ready = 0 } = status;
    return { observedGeneration, wanted, updated, ready, all: wanted };
  }
  const { updatedReplicas: updated = 0, readyReplicas: ready = 0 } = status;
  return { observedGeneration, wanted: spec.replicas ?? 1, updated, ready, all: replicas };
}

type Status = NonNullable<ExtensionLike["status"]>;

type LastOperation = Status["lastOperation"];

function succeeded(lastOperation: LastOperation, stamp: string | undefined): Readiness {
  if (!lastOperation) return not("its controller has not reported an operation");
  const { state, description = "", lastUpdateTime } = lastOperation;
  if (state !== "Succeeded") return not(`its operation is ${state}: ${description}`);
  return stamp === undefined ? { reached: true } : sinceRequested(stamp, lastUpdateTime);
}

function sinceRequested(stamp: string, lastUpdateTime: string): Readiness {
  if (Number.isNaN(Date.parse(stamp))) return not(`its annotation ${TIMESTAMP_ANNOTATION} is no time: ${stamp}`);
  return isBefore(lastUpdateTime, stamp) ? not("its last operation is older than the request") : { reached: true };
}

/** Whether a controller wrote this time before the second of the request; false where one of them is no time. */
const isBefore = (time = "", stamp = ""): boolean => Date.parse(time) < Math.floor(Date.parse(stamp) / 1000) * 1000;

const not = (message: string): Readiness => ({ reached: false, message });

/**
 * Of a Node, what tells it from others and from its earlier self, its pool, and whether it is ready: kubelets and the Shoot's users write the rest, a
 * megabyte and more.
 */
export function nodeSigns({ apiVersion, kind, metadata, ...node }: KubeObject): Node {
  const { name, uid, resourceVersion, labels = {} } = metadata;
  const { [POOL_LABEL]: pool } = labels;
  const { conditions = [] } = (node["status"] ?? {}) as NonNullable<Node["status"]>;
  const ready = conditions.find(({ type }) => type === "Ready");
  return {
    ...{ apiVersion, kind },
    metadata: {
      ...{ name, ...omitUndefined({ uid, resourceVersion }) },
      ...(pool !== undefined && { labels: { [POOL_LABEL]: pool } }),
    },
    status: { conditions: ready === undefined ? [] : [{ type: ready.type, status: ready.status }] },
  };
}

/** Whether the kubelet says that its node is ready. */
export function isReady(node: KubeObject): boolean {
  const { conditions = [] } = (node["status"] ?? {}) as { conditions?: readonly { type: string; status: string }[] };
  return conditions.some(({ type, status }) => type === "Ready" && status === "True");
}
