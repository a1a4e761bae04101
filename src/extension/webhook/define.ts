import type { Cluster, KubeObject, OperatingSystemConfig } from "../../api/index.ts";
import type { ControlPlaneService, ControlPlaneWorkload } from "./objects.ts";

/** What a webhook may change in a Shoot's namespace, by Gardener's contract; etcd is ours to promise. */
export interface Mutators {
  readonly "kube-apiserver"?: Mutator<ControlPlaneWorkload>;
  readonly "kube-controller-manager"?: Mutator<ControlPlaneWorkload>;
  readonly "kube-scheduler"?: Mutator<ControlPlaneWorkload>;
  /** The Service of the same name as the API server's Deployment. */
  readonly "kube-apiserver-service"?: Mutator<ControlPlaneService>;
  readonly "etcd-main"?: Mutator<ControlPlaneWorkload>;
  readonly "etcd-events"?: Mutator<ControlPlaneWorkload>;
  /** OperatingSystemConfigs of purpose `reconcile`. */
  readonly "operating-system-config"?: Mutator<OperatingSystemConfig>;
}

/** What can be changed. */
export type MutatorName = keyof Mutators;

/**
 * Answers with the object as it shall be. It is a function of what it is given, and the same when it is given its own
 * answer: then flows that apply their object again change nothing, and nothing is rolled out.
 */
export type Mutator<T extends KubeObject> = (object: T, context: MutationContext) => T | Promise<T>;

/** What a mutator is told besides. */
export interface MutationContext {
  /** The Shoot, its Seed and its CloudProfile; undefined while the namespace has no Cluster yet. */
  readonly cluster: Cluster | undefined;
}

/** A provider's changes of control planes. */
export interface ControlPlaneWebhook {
  /** The name of the extension; that of its configuration in the seed begins with it. */
  readonly name: string;
  /** Whose control planes: of Shoots of this provider, or of all Shoots on Seeds of this provider. */
  readonly provider: { readonly shoot: string } | { readonly seed: string };
  readonly mutate: Mutators;
}

/** Declares a provider's changes of control planes; nothing happens until it is served. */
export function defineControlPlaneWebhook(webhook: ControlPlaneWebhook): ControlPlaneWebhook {
  return webhook;
}
