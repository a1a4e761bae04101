import { Cluster, CLUSTER_NAME_LABEL } from "../../src/api/cluster-api/index.ts";
import { now, type KubeClient, define } from "../../src/kube/index.ts";
import { contractKind } from "./contract-kind.ts";
import type { ControlPlane } from "./control-plane.ts";

/** The kind of a control plane that a test plays. */
export const playedKind = { apiGroup: "controlplane.cluster.x-k8s.io", kind: "PlayedControlPlane" } as const;

const apiVersion = `${playedKind.apiGroup}/v1alpha1`;

/** Serves the kind of control planes that tests play. */
export async function servePlayedControlPlanes(client: KubeClient): Promise<void> {
  await define(client, [contractKind("controlplane", playedKind.kind)]);
}

/**
 * Makes a control plane that is initialized and available, as a provider does it by contract v1beta2, and the Secret by which core
 * reaches it. Its API server is the management cluster's own.
 */
export async function playControlPlane(
  { client, kubeconfig }: ControlPlane,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<void> {
  const { hostname: host, port } = new URL(client.server);
  const labels = { [CLUSTER_NAME_LABEL]: name };
  const object = {
    ...{ apiVersion, kind: playedKind.kind, metadata: { namespace, name, labels } },
    spec: { version: "v1.34.4", controlPlaneEndpoint: { host, port: Number(port) } },
  };
  await client.apply(object);
  const available = { type: "Available", status: "True", reason: "Available", message: "", lastTransitionTime: now() };
  await client.applyStatus({
    ...object,
    status: {
      initialization: { controlPlaneInitialized: true },
      externalManagedControlPlane: true,
      versions: [{ version: "v1.34.4", replicas: 1 }],
      conditions: [available],
    },
  });
  await client.apply({
    ...{ apiVersion: "v1", kind: "Secret", type: "cluster.x-k8s.io/secret" },
    metadata: { namespace, name: `${name}-kubeconfig`, labels },
    data: { value: Buffer.from(kubeconfig).toString("base64") },
  });
}

/** A Cluster whose control plane a test plays, without infrastructure. */
export const playedCluster = ({ namespace, name }: { readonly namespace: string; readonly name: string }): Cluster => ({
  ...{ apiVersion: Cluster.apiVersion, kind: Cluster.kind, metadata: { namespace, name } },
  spec: { controlPlaneRef: { ...playedKind, name } },
});
