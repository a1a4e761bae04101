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

/** Whose an object is: the garden's, a Seed's or a Shoot's. */
export type ExtensionClass = "garden" | "seed" | "shoot";

/** Whether an object is of the type, and of a class, that a controller handles (Gardener's predicates `HasType`, `HasClass`). */
export function isHandled(
  { spec }: ExtensionObject,
  o: { type: string; class?: ExtensionClass | readonly ExtensionClass[] },
): boolean {
  const classes: readonly string[] = [o.class ?? "shoot"].flat();
  return spec.type === o.type && classes.includes(spec.class ?? "shoot");
}
