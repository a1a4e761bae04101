/**
 * The kinds of Kubernetes itself that Perennial reads, each with the fields that it reads. Value and type share a name:
 * `client.read(Secret, { namespace, name })` is a `Secret` or undefined.
 */
import type { Kind, Scope } from "../api/schema/kind.ts";
import type { KubeObject, NamespacedMeta } from "../api/schema/meta.ts";

/** A kind whose objects are `T`; one that is cluster-scoped says so in `S`, too. */
export function defineKind<T extends KubeObject, S extends Scope = "Namespaced">(definition: {
  readonly apiVersion: string;
  readonly kind: string;
  readonly scope: S;
}): Kind<T, S> {
  return definition;
}

/** A Namespace, by its metadata. */
export type Namespace = KubeObject;
/** A Namespace, by its metadata. */
export const Namespace = defineKind<Namespace, "Cluster">({ apiVersion: "v1", kind: "Namespace", scope: "Cluster" });

/** A Secret; its data is base64. */
export interface Secret extends NamespacedObject {
  readonly type?: string;
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
}
/** A Secret; its data is base64. */
export const Secret = defineKind<Secret>({ apiVersion: "v1", kind: "Secret", scope: "Namespaced" });

/** A ConfigMap; its data is text. */
export interface ConfigMap extends NamespacedObject {
  readonly immutable?: boolean;
  readonly binaryData?: Readonly<Record<string, string>>;
  readonly data?: Readonly<Record<string, string>>;
}
/** A ConfigMap; its data is text. */
export const ConfigMap = defineKind<ConfigMap>({ apiVersion: "v1", kind: "ConfigMap", scope: "Namespaced" });

/** A user's request for a certificate, in PEM and base64; without conditions, it waits to be judged. */
export interface CertificateSigningRequest extends KubeObject {
  readonly spec: {
    readonly request: string;
    readonly signerName: string;
    readonly usages?: readonly string[];
    readonly expirationSeconds?: number;
    /** Who has asked, as the API server knew the caller. */
    readonly username?: string;
    readonly groups?: readonly string[];
  };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly message?: string }[];
    readonly certificate?: string;
  };
}
/** A user's request for a certificate. */
export const CertificateSigningRequest = defineKind<CertificateSigningRequest, "Cluster">({
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  scope: "Cluster",
});

/** A ServiceAccount, by its metadata. */
export interface ServiceAccount extends NamespacedObject {
  readonly automountServiceAccountToken?: boolean;
}
/** A ServiceAccount, by its metadata. */
export const ServiceAccount = defineKind<ServiceAccount>({
  apiVersion: "v1",
  kind: "ServiceAccount",
  scope: "Namespaced",
});

/** A Service, as far as load balancers and node ports go. */
export interface Service extends NamespacedObject {
  readonly spec: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly loadBalancerIP?: string;
    readonly loadBalancerClass?: string;
    readonly ports?: readonly { readonly nodePort?: number }[];
  };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } };
}
/** A Service, as far as load balancers and node ports go. */
export const Service = defineKind<Service>({ apiVersion: "v1", kind: "Service", scope: "Namespaced" });

/** A part of where a Service leads. */
export interface EndpointSlice extends NamespacedObject {
  /** Null where it leads nowhere. */
  readonly endpoints?: readonly { readonly addresses: readonly string[] }[] | null;
  readonly ports?: readonly { readonly port?: number }[];
}
/** A part of where a Service leads. */
export const EndpointSlice = defineKind<EndpointSlice>({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  scope: "Namespaced",
});

/** A Pod: where it runs, and how its containers are. */
export interface Pod extends NamespacedObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly restartPolicy?: string;
    readonly containers?: readonly { readonly name: string }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly startTime?: string;
    readonly conditions?: readonly StatusCondition[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}
/** A Pod: where it runs, and how its containers are. */
export const Pod = defineKind<Pod>({ apiVersion: "v1", kind: "Pod", scope: "Namespaced" });

/** What the kubelet says of a container. */
export interface ContainerStatus {
  readonly name: string;
  readonly containerID?: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: ContainerState;
  /** How it ended before it was started again. */
  readonly lastState?: ContainerState;
}

interface ContainerState {
  readonly running?: { readonly startedAt?: string };
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly terminated?: {
    readonly exitCode: number;
    readonly reason?: string;
    readonly message?: string;
    readonly startedAt?: string;
  };
}

/** A Node: its pod network, what its provider calls its machine, its addresses, its conditions. */
export interface Node extends KubeObject {
  readonly spec?: { readonly podCIDR?: string; readonly providerID?: string };
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly conditions?: readonly StatusCondition[];
    readonly nodeInfo?: { readonly machineID?: string };
  };
}
/** A Node: its pod network, what its provider calls its machine, its addresses, its conditions. */
export const Node = defineKind<Node, "Cluster">({ apiVersion: "v1", kind: "Node", scope: "Cluster" });

/** A PersistentVolume: where its files are, and whose it is. */
export interface PersistentVolume extends KubeObject {
  readonly spec: {
    readonly hostPath?: { readonly path: string };
    readonly persistentVolumeReclaimPolicy?: string;
    readonly claimRef?: { readonly namespace?: string };
  };
  readonly status?: { readonly phase?: string };
}
/** A PersistentVolume: where its files are, and whose it is. */
export const PersistentVolume = defineKind<PersistentVolume, "Cluster">({
  apiVersion: "v1",
  kind: "PersistentVolume",
  scope: "Cluster",
});

/** A PersistentVolumeClaim: what volume is asked for. */
export interface PersistentVolumeClaim extends NamespacedObject {
  readonly spec: {
    readonly volumeName?: string;
    readonly storageClassName?: string;
    readonly accessModes?: readonly string[];
    readonly volumeMode?: string;
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
  };
}
/** A PersistentVolumeClaim: what volume is asked for. */
export const PersistentVolumeClaim = defineKind<PersistentVolumeClaim>({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  scope: "Namespaced",
});

/** A StorageClass: what becomes of a volume that its claim gives back. */
export interface StorageClass extends KubeObject {
  readonly reclaimPolicy?: string;
}
/** A StorageClass: what becomes of a volume that its claim gives back. */
export const StorageClass = defineKind<StorageClass, "Cluster">({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  scope: "Cluster",
});

/** What Deployments, StatefulSets and ReplicaSets share: a number of pods and whose they are. */
export interface Workload extends NamespacedObject {
  readonly spec: { readonly replicas?: number; readonly selector: { readonly matchLabels?: Record<string, string> } };
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly StatusCondition[] };
}

const apps = { apiVersion: "apps/v1", scope: "Namespaced" } as const;

/** A Deployment, as a {@link Workload}. */
export type Deployment = Workload;
/** A Deployment, as a {@link Workload}. */
export const Deployment = defineKind<Deployment>({ ...apps, kind: "Deployment" });

/** A StatefulSet, as a {@link Workload}. */
export type StatefulSet = Workload;
/** A StatefulSet, as a {@link Workload}. */
export const StatefulSet = defineKind<StatefulSet>({ ...apps, kind: "StatefulSet" });

/** A DaemonSet: its conditions. */
export interface DaemonSet extends NamespacedObject {
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly StatusCondition[] };
}
/** A DaemonSet: its conditions. */
export const DaemonSet = defineKind<DaemonSet>({ ...apps, kind: "DaemonSet" });

/** A ReplicaSet, as a {@link Workload}. */
export type ReplicaSet = Workload;
/** A ReplicaSet, as a {@link Workload}. */
export const ReplicaSet = defineKind<ReplicaSet>({ ...apps, kind: "ReplicaSet" });

/** A Job: whether it may run, and how it ended. */
export interface Job extends NamespacedObject {
  readonly spec: { readonly suspend?: boolean };
  readonly status?: { readonly conditions?: readonly StatusCondition[] };
}
/** A Job: whether it may run, and how it ended. */
export const Job = defineKind<Job>({ apiVersion: "batch/v1", kind: "Job", scope: "Namespaced" });

/** A CronJob: whether it may begin Jobs, and which. */
export interface CronJob extends NamespacedObject {
  readonly spec: {
    readonly suspend?: boolean;
    readonly jobTemplate: { readonly metadata?: object; readonly spec: object };
  };
}
/** A CronJob: whether it may begin Jobs, and which. */
export const CronJob = defineKind<CronJob>({ apiVersion: "batch/v1", kind: "CronJob", scope: "Namespaced" });

/** A Lease: who holds it, since when, for how long. */
export interface Lease extends NamespacedObject {
  readonly spec: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}
/** A Lease: who holds it, since when, for how long. */
export const Lease = defineKind<Lease>({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  scope: "Namespaced",
});

/** An Event of `events.k8s.io`. */
export interface Event extends NamespacedObject {
  readonly reason?: string;
  readonly note?: string;
}
/** An Event of `events.k8s.io`, by which they are read: those of core have fewer names for the same. */
export const Event = defineKind<Event>({ apiVersion: "events.k8s.io/v1", kind: "Event", scope: "Namespaced" });

/** A CustomResourceDefinition: whose kind it is, how its versions are converted, and whether the server serves it. */
export interface CustomResourceDefinition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions?: readonly { readonly name: string; readonly served: boolean }[];
    readonly conversion?: { readonly strategy: string };
  };
  readonly status?: { readonly conditions?: readonly StatusCondition[] };
}
/** A CustomResourceDefinition: whose kind it is, how its versions are converted, and whether the server serves it. */
export const CustomResourceDefinition = defineKind<CustomResourceDefinition, "Cluster">({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  scope: "Cluster",
});

/** One condition in a status of Kubernetes' own. */
export interface StatusCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** An object that lives in a namespace. */
export interface NamespacedObject extends KubeObject {
  readonly metadata: NamespacedMeta;
}
