import type { ShootExtension } from "../api/extensions/lifecycle.ts";
import { GARDENADM_IMAGE, GARDENER_VERSION } from "../api/names.ts";
import type { CloudProfile, Seed, Shoot } from "../api/index.ts";

/** All that the objects of a control plane are made from. Holds no secrets, only their names and checksums. */
export interface ControlPlaneContext {
  readonly shoot: Shoot;
  readonly cloudProfile: CloudProfile;
  /** The seed that carries the control plane; none where nodes of the Shoot do. */
  readonly seed?: Seed;
  /** The Shoot's namespace in the seed; also its technical id. */
  readonly namespace: string;
  /** SHA-256 of the data of each Secret in the namespace, by name: a changed Secret rolls the pods that mount it. */
  readonly checksums: Readonly<Record<string, string>>;
  readonly images: ImageVector;
  /** IP address or host name of the API server's load balancer, once there is one. */
  readonly apiServerAddress?: string;
  /** Annotations of the API server's load balancer, where the Shoot has an ExposureClass. */
  readonly loadBalancerAnnotations?: Readonly<Record<string, string>>;
  /** Domain of which `api.<domain>` is the API server's name for machines. */
  readonly internalDomain?: string;
  /** Domain of which `api.<domain>` is the API server's name for people. */
  readonly externalDomain?: string;
  /** Seconds for which resolvers may remember the API server's address. */
  readonly dnsTtl?: number;
  /** Minutes between two snapshots of etcd, a divisor of 60; 10 unless it is said. */
  readonly snapshotMinutes?: number;
  /** The folders of their volumes that have the data of etcds, where these are no more in the usual one. */
  readonly etcdDirectories?: { readonly main?: string; readonly events?: string };
  /** What the data of etcds were replaced by last, a sentence without its end each, while people are to know. */
  readonly etcdReplacements?: { readonly main?: string; readonly events?: string };
  /** Where the seed's own API server is reached, as its Service `kubernetes` says. */
  readonly seedApiServer?: { readonly addresses: readonly string[]; readonly port: number };
  /** The seed's zones that the control plane is in; none where the Seed names none. */
  readonly zones?: readonly string[];
  /** PEM certificate that signs those of the Shoot's own servers, once there is one. */
  readonly authority?: string;
  /** The Shoot has a resource manager of its own. */
  readonly managesResources?: true;
  /** The API server reaches nodes, pods and Services through a tunnel. */
  readonly tunnel?: true;
  /** Where machine-controller-manager makes the machines; none where the Worker's controller does. */
  readonly machines?: ManagedMachines;
  /** The Extensions that the Shoot has; where it is not said, those that its spec asks for. */
  readonly extensions?: readonly ShootExtension[];
  /** The Shoot's public SSH key in base64, once there is one. */
  readonly sshPublicKey?: string;
  /** Replicas of each workload in the seed: those that the operation needs; by default 1, or 0 for a hibernated Shoot. */
  readonly replicas?: number;
  /** The nodes of a self-hosted Shoot that carry its control plane, once they are known; none where a seed carries it. */
  readonly nodes?: readonly ControlPlaneNode[];
  /** IP addresses and host names at which an extension exposes the API servers of a self-hosted Shoot, once it has said them. */
  readonly ingress?: readonly string[];
}

/** What a control plane in a seed is made from. */
export interface SeedContext extends ControlPlaneContext {
  readonly seed: Seed;
}

/** The seed that carries a control plane; throws where nodes of its own do, which have nothing of what was asked for. */
export function seedOf({ seed, namespace }: Pick<ControlPlaneContext, "seed" | "namespace">): Seed {
  if (seed === undefined) throw new Error(`no Seed carries ${namespace}: its own nodes do`);
  return seed;
}

/** A node on which API server, its controllers and etcd run as static pods. */
export interface ControlPlaneNode {
  /** Its host name. */
  readonly name: string;
  /** IP addresses; by the first of them, other nodes reach it. */
  readonly addresses: readonly [string, ...string[]];
  /** Its etcds begin the cluster. Those of every other node join what there is, and without data they stay down. */
  readonly founds?: true;
}

/** What the programs that manage machines are deployed with. */
export interface ManagedMachines {
  /** Pods of machine-controller-manager. */
  readonly managerReplicas: number;
  /** The MachineDeployments that the Worker's controller makes, with the numbers of machines between which each may be. */
  readonly deployments: readonly { readonly name: string; readonly minimum: number; readonly maximum: number }[];
}

/** The images of everything that we deploy. */
export interface ImageVector {
  readonly kubeApiServer: string;
  readonly kubeControllerManager: string;
  readonly kubeScheduler: string;
  readonly kubeProxy: string;
  readonly etcd: string;
  readonly coredns: string;
  readonly pause: string;
  /** What reaches object stores. */
  readonly rclone: string;
  /** Upstream's, which applies ManagedResources. */
  readonly resourceManager: string;
  /** Upstream's, of which machines take the agent. */
  readonly nodeAgent: string;
  /** Ours, of which machines of self-hosted Shoots take gardenadm. */
  readonly gardenadm: string;
  /** Of which machines take their kubelet. */
  readonly hyperkube: string;
  /** Upstream's, which makes machines. */
  readonly machineControllerManager: string;
  /** Upstream's, which says how many. */
  readonly clusterAutoscaler: string;
  /** Kubernetes' tunnel to nodes that a seed does not reach: its end beside the API server. */
  readonly tunnelServer: string;
  /** Its end in the Shoot. */
  readonly tunnelAgent: string;
}

const releases = "europe-docker.pkg.dev/gardener-project/releases";

/** Upstream's resource manager, in seeds and for Shoots of whatever version. */
export const RESOURCE_MANAGER_IMAGE = `${releases}/gardener/resource-manager:${GARDENER_VERSION}`;

/** The image of the container that holds a pod's namespaces. */
export const PAUSE_IMAGE = "registry.k8s.io/pause:3.10";

/** The images that belong to a Kubernetes version such as `1.34.4`. */
export function imagesFor(kubernetesVersion: string): ImageVector {
  const tag = `v${kubernetesVersion.replace(/^v/, "")}`;
  return {
    kubeApiServer: `registry.k8s.io/kube-apiserver:${tag}`,
    kubeControllerManager: `registry.k8s.io/kube-controller-manager:${tag}`,
    kubeScheduler: `registry.k8s.io/kube-scheduler:${tag}`,
    kubeProxy: `registry.k8s.io/kube-proxy:${tag}`,
    etcd: "registry.k8s.io/etcd:3.6.10-0",
    coredns: "registry.k8s.io/coredns/coredns:v1.13.1",
    pause: PAUSE_IMAGE,
    rclone: "docker.io/rclone/rclone:1.74.4",
    resourceManager: RESOURCE_MANAGER_IMAGE,
    nodeAgent: `${releases}/gardener/node-agent:${GARDENER_VERSION}`,
    gardenadm: GARDENADM_IMAGE,
    hyperkube: `${releases}/hyperkube:${tag}`,
    machineControllerManager: `${releases}/gardener/machine-controller-manager:v0.62.1`,
    clusterAutoscaler: `${releases}/gardener/autoscaler/cluster-autoscaler:${autoscalerVersion(kubernetesVersion)}`,
    tunnelServer: "registry.k8s.io/kas-network-proxy/proxy-server:v0.34.0",
    tunnelAgent: "registry.k8s.io/kas-network-proxy/proxy-agent:v0.34.0",
  };
}

/** The autoscaler knows one minor version of Kubernetes (upstream: `imagevector/containers.yaml`). */
function autoscalerVersion(kubernetesVersion: string): string {
  const minor = Number(/^v?1\.(\d+)\./.exec(kubernetesVersion)?.[1]);
  if (minor >= 35) return "v1.35.1";
  return { 34: "v1.34.3", 33: "v1.33.1" }[minor] ?? "v1.32.3";
}

/** How many pods each of the control plane's workloads has now. */
export function replicasOf({ replicas, shoot }: ControlPlaneContext): number {
  return replicas ?? (shoot.spec.hibernation?.enabled === true ? 0 : 1);
}

/** The same for what nodes run as static pods: there, the workload is what these are made from, and has no pod of its own. */
export function scheduledReplicasOf(context: ControlPlaneContext): number {
  return context.nodes === undefined ? replicasOf(context) : 0;
}

/** The name of the Secret or ConfigMap that stands for `name` on one node; no other object has a dot in its name. */
export const nodeObjectName = (name: string, hostName: string): string => `${name}.${hostName}`;

/** The Shoot's worker pools; none for a workerless Shoot. */
export function poolsOf({ shoot }: Pick<ControlPlaneContext, "shoot">): readonly WorkerPool[] {
  return shoot.spec.provider.workers ?? [];
}

/** A worker pool as the user describes it. */
export type WorkerPool = NonNullable<Shoot["spec"]["provider"]["workers"]>[number];
