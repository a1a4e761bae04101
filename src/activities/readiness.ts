import type { KubeObject } from "../api/meta.ts";

/** How an object stands to what is waited for. `error` is what its controller reported, with codes. */
export type Standing =
  | { readonly reached: true }
  | { readonly reached: false; readonly message: string; readonly error?: { readonly codes: readonly string[] } };

/** An extension object's status and annotations, as far as readiness looks at them. */
export interface ExtensionLike extends KubeObject {
  readonly status?: {
    readonly observedGeneration?: number;
    readonly lastError?: { readonly description: string; readonly codes?: readonly string[] };
    readonly lastOperation?: { readonly state: string; readonly description?: string; readonly lastUpdateTime: string };
  };
}

/**
 * Whether an extension's controller is done with this very operation: Gardener's health check, in its order, after
 * the operation's id was compared. Equal seconds pass, because controllers write times to the second.
 */
export function extensionReady(object: ExtensionLike, timestamp: string | undefined): Standing {
  const annotations = object.metadata.annotations ?? {};
  const { lastError, lastOperation, observedGeneration } = object.status ?? {};
  const stamp = annotations["gardener.cloud/timestamp"];
  if (timestamp !== undefined && stamp !== timestamp) return not("an older version of it was seen");
  if (lastError) return { reached: false, message: lastError.description, error: { codes: lastError.codes ?? [] } };
  if (observedGeneration !== object.metadata.generation) return not("its controller has not seen the latest spec");
  const operation = annotations["gardener.cloud/operation"];
  if (operation !== undefined) return not(`its controller has not taken up operation ${operation}`);
  if (!lastOperation) return not("its controller has not reported an operation");
  if (lastOperation.state !== "Succeeded") return not(`its operation is ${lastOperation.state}: ${lastOperation.description ?? ""}`);
  return stamp === undefined ? { reached: true } : sinceRequested(stamp, lastOperation.lastUpdateTime);
}

/** Whether a Deployment, StatefulSet or DaemonSet runs what its spec says, and nothing older. */
export function rolledOut(object: KubeObject): Standing {
  const { spec = {}, status = {} } = object as { spec?: Counts; status?: Counts };
  if (status.observedGeneration !== object.metadata.generation) return not("its controller has not seen the latest spec");
  const [wanted, updated, ready] =
    object.kind === "DaemonSet"
      ? [status.desiredNumberScheduled ?? 0, status.updatedNumberScheduled ?? 0, status.numberReady ?? 0]
      : [spec.replicas ?? 1, status.updatedReplicas ?? 0, status.readyReplicas ?? 0];
  if (updated < wanted) return not(`${updated} of ${wanted} pods are of the latest version`);
  if (ready < wanted) return not(`${ready} of ${wanted} pods are ready`);
  if ((status.replicas ?? wanted) > wanted) return not("pods of an older version still run");
  return { reached: true };
}

/** Whether a Service of type LoadBalancer has an address. */
export function addressed(object: KubeObject): Standing {
  return addressOf(object) === undefined ? not("it has no address yet") : { reached: true };
}

/** The first address of a Service of type LoadBalancer, IP before hostname. */
export function addressOf(object: KubeObject): string | undefined {
  const { status } = object as { status?: { loadBalancer?: { ingress?: readonly { ip?: string; hostname?: string }[] } } };
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

function sinceRequested(stamp: string, lastUpdateTime: string): Standing {
  const requested = Date.parse(stamp);
  if (Number.isNaN(requested)) return not(`its annotation gardener.cloud/timestamp is no time: ${stamp}`);
  const second = Math.floor(requested / 1000) * 1000;
  return second > Date.parse(lastUpdateTime) ? not("its last operation is older than the request") : { reached: true };
}

const not = (message: string): Standing => ({ reached: false, message });
