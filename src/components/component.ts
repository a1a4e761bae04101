import type { KubeObject } from "../api/index.ts";
import type { ControlPlaneContext } from "./context.ts";

/** The parts of a control plane that flows deploy by name. */
export type ComponentName =
  | "namespace"
  | "network-policies"
  | "kube-apiserver-service"
  | "etcd"
  | "etcd-backup"
  | "kube-apiserver"
  | "kube-controller-manager"
  | "kube-scheduler"
  | "gardener-access"
  | "cluster-identity"
  | "resource-manager"
  | "resource-manager-webhooks"
  | "machine-access"
  | "machine-controller-manager"
  | "cluster-autoscaler"
  | "node-bootstrap"
  | "tunnel-agent"
  | "kube-proxy"
  | "coredns";

/** One part of a control plane. */
export interface Component {
  /** The cluster that its objects belong to. */
  readonly target: "seed" | "shoot";
  /** Its objects, in the order in which they are applied; the same for the same context. */
  readonly objects: (context: ControlPlaneContext) => KubeObject[];
  /** What is waited for after applying: workloads until they have rolled out, a Service until it has an address. */
  readonly rollout: readonly RolloutRef[];
}

/** An object to wait for; without a namespace, it is in the Shoot's namespace in the seed. */
export interface RolloutRef {
  readonly apiVersion: "apps/v1" | "v1";
  readonly kind: "Deployment" | "StatefulSet" | "DaemonSet" | "Service";
  readonly name: string;
  readonly namespace?: string;
}
