import type { Cluster, ClusterEndpoint, EndpointType } from "../../src/api/cluster-api/index.ts";
import { generatedLabels, type Origin } from "../../src/cluster-api/endpoint/generated.ts";

/** What an endpoint of a test is: who owns it, what it was generated from, when it was made. */
export interface EndpointTraits {
  readonly name?: string;
  readonly host?: string;
  readonly port?: number;
  /** One of the table's, or of a table with another line. */
  readonly type?: string;
  readonly owner?: "infrastructure" | "controlPlane" | "cluster";
  readonly generated?: Origin;
  readonly createdAt?: string;
  readonly metadata?: Partial<ClusterEndpoint["metadata"]>;
  readonly status?: ClusterEndpoint["status"];
}

/** The references of {@link clusterOf}'s Cluster, as owners have them. */
export const owners = {
  infrastructure: { apiVersion: "infrastructure.cluster.x-k8s.io/v1", kind: "FooCluster", name: "foo", uid: "infra" },
  controlPlane: { apiVersion: "controlplane.cluster.x-k8s.io/v1", kind: "FooControlPlane", name: "foo", uid: "cp" },
  cluster: { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name: "foo", uid: "cluster" },
} as const;

/** A ClusterEndpoint of Cluster `foo`. */
export function endpointOf(traits: EndpointTraits = {}): ClusterEndpoint {
  const { name = "foo", host = "api.example.com", port = 443, owner, generated, metadata, status } = traits;
  const type = (traits.type ?? "ExternalControlPlaneEndpoint") as EndpointType;
  const labels = generated === undefined ? {} : generatedLabels(generated, { host, port });
  return {
    apiVersion: "cluster.x-k8s.io/v1beta1",
    kind: "ClusterEndpoint",
    metadata: {
      ...{ name, namespace: "fleet", uid: `uid-${name}`, generation: 1 },
      creationTimestamp: traits.createdAt ?? "2026-01-01T00:00:00Z",
      labels: { "cluster.x-k8s.io/cluster-name": "foo", ...labels },
      ...(owner && { ownerReferences: [owners[owner]] }),
      ...metadata,
    },
    spec: { cluster: "foo", host, port, type },
    ...(status && { status }),
  };
}

/** Cluster `foo`, with an infrastructure and a control plane, and this endpoint. */
export function clusterOf(
  controlPlaneEndpoint?: Cluster["spec"]["controlPlaneEndpoint"],
  metadata: Partial<Cluster["metadata"]> = {},
): Cluster {
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name: "foo", namespace: "fleet", uid: "cluster", ...metadata },
    spec: {
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "FooCluster", name: "foo" },
      controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "FooControlPlane", name: "foo" },
      ...(controlPlaneEndpoint && { controlPlaneEndpoint }),
    },
  };
}
