import { extensionFinalizer } from "../api/names.ts";
import type { Cluster, Condition, KubeObject, LastError, LastOperation, Leadership } from "../api/index.ts";
import type { ClusterlessKind, ExtensionKind, SometimesClusterlessKind } from "../api/extensions/kinds.ts";

/** What every extension kind has, whatever it is for. */
export interface ExtensionObject extends KubeObject {
  readonly spec: {
    readonly type: string;
    readonly class?: string | undefined;
    readonly leadership?: Leadership | undefined;
  };
  readonly status?: ExtensionStatus | undefined;
}

/** The status fields common to all extension kinds (Gardener's `DefaultStatus`). */
export interface ExtensionStatus {
  readonly observedGeneration?: number | undefined;
  readonly lastOperation?: LastOperation | undefined;
  readonly lastError?: LastError | undefined;
  readonly conditions?: readonly Condition[] | undefined;
  readonly providerStatus?: unknown;
  readonly state?: unknown;
}

/** What an actuator of a kind is given as Cluster: none for cluster-scoped kinds, perhaps none for those that a garden or seed can have. */
export type ClusterFor<K extends ExtensionKind> = K extends ClusterlessKind
  ? undefined
  : K extends SometimesClusterlessKind
    ? Cluster | undefined
    : Cluster;

/** The finalizer that marks an object of this kind as having something to clean up, as Gardener names it. */
export function finalizerOf(kind: ExtensionKind): string {
  const name = kind === "OperatingSystemConfig" ? "operatingsystemconfigs" : kind.toLowerCase();
  return extensionFinalizer(name);
}

/** Whether an object is of the type and class that a controller handles. */
export function isHandled(object: ExtensionObject, o: { type: string; class?: string }): boolean {
  return object.spec.type === o.type && (object.spec.class ?? "shoot") === (o.class ?? "shoot");
}
