import type { Cluster, MachinePool, ShootControlPlane, ShootMachinePool } from "../../src/api/cluster-api/index.ts";
import { Shoot } from "../../src/api/index.ts";
import type { Pool } from "../../src/cluster-api/shoot/row.ts";

/** The namespace of the example project, where management cluster and garden are one. */
const namespace = "garden-dev";

/** A Cluster of which the control plane is a Shoot's. */
export function clusterOf(name: string, spec: Partial<Cluster["spec"]> = {}): Cluster {
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name, namespace },
    spec: {
      controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "ShootControlPlane", name },
      ...spec,
    },
  };
}

/** How a Cluster names its ShootCluster. */
export const infrastructureRefOf = (name: string) => ({
  apiGroup: "infrastructure.cluster.x-k8s.io",
  kind: "ShootCluster",
  name,
});

/** A control plane that makes a Shoot of the local provider. */
export function controlPlaneOf(name: string, spec: Partial<ShootControlPlane["spec"]> = {}): ShootControlPlane {
  return {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind: "ShootControlPlane",
    metadata: { name, namespace },
    spec: { version: "v1.34.4", shootTemplate: shootTemplate(name), ...spec },
  };
}

/** What the example Shoot is made from, with networks of its own. */
export const shootTemplate = (name: string): NonNullable<ShootControlPlane["spec"]["shootTemplate"]> => ({
  spec: {
    cloudProfile: { kind: "CloudProfile", name: "local" },
    credentialsBindingName: "local",
    region: "local",
    dns: { domain: `${name}.dev.perennial.test` },
    networking: { type: "local", pods: "10.180.0.0/16", services: "10.190.0.0/16", nodes: "172.30.0.0/16" },
    provider: { type: "local" },
  },
});

/** The Shoot that such a control plane makes, with what else of its spec is to be so. */
export const shootOf = (name: string, spec: Partial<Shoot["spec"]> = {}): Shoot => ({
  apiVersion: Shoot.apiVersion,
  kind: Shoot.kind,
  metadata: { namespace, name },
  spec: {
    ...shootTemplate(name).spec,
    region: "local",
    kubernetes: { version: "1.34.4" },
    provider: { type: "local" },
    ...spec,
  },
});

/** A pool of machines of the local provider: both its halves. */
export function poolOf(cluster: string, name: string, o: PoolOptions = {}): Pool {
  const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "ShootMachinePool", name };
  const machinePool: MachinePool = {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "MachinePool",
    metadata: { name, namespace, ...(o.annotations && { annotations: o.annotations }) },
    spec: {
      clusterName: cluster,
      replicas: o.replicas ?? 1,
      ...(o.failureDomains && { failureDomains: o.failureDomains }),
      template: {
        spec: {
          clusterName: cluster,
          bootstrap: { dataSecretName: "" },
          infrastructureRef,
          ...(o.version === undefined ? {} : { version: o.version }),
        },
      },
    },
  };
  const infrastructure: ShootMachinePool = {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
    kind: "ShootMachinePool",
    metadata: { name, namespace, ...(o.createdAt === undefined ? {} : { creationTimestamp: o.createdAt }) },
    spec: { machine: { type: "local", image: { name: "local", version: "1.0.0" } }, ...o.spec },
  };
  return { machinePool, infrastructure };
}

/** What of a pool is to be other than usual. */
export interface PoolOptions {
  readonly replicas?: number;
  readonly version?: string;
  readonly failureDomains?: string[];
  readonly annotations?: Record<string, string>;
  readonly createdAt?: string;
  readonly spec?: Partial<ShootMachinePool["spec"]>;
}
