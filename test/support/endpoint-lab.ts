import type { KubeObject } from "../../src/api/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { readManifest } from "../../src/manifests.ts";
import { define } from "../../src/kube/index.ts";
import { readCoreObjects } from "../../src/local/cluster-api/core-objects.ts";
import { contractKind } from "./contract-kind.ts";
import { eventually } from "./eventually.ts";

/** Makes a management cluster of a cluster, without the core manager: Cluster API's definitions and ours, and a provider's two kinds. */
export async function applyManagement(client: KubeClient): Promise<void> {
  const { definitions } = await readCoreObjects();
  const provider = [contractKind("infrastructure", "FooCluster"), contractKind("controlplane", "FooControlPlane")];
  await define(client, [...definitions, ...provider]);
  await applyEndpointKind(client);
}

/** Serves ClusterEndpoints, and has them judged by our admission policy. */
export async function applyEndpointKind(client: KubeClient): Promise<void> {
  await define(client, await readManifest("cluster-api/crds/cluster.x-k8s.io_clusterendpoints.yaml"));
  for (const object of await readManifest("cluster-api/endpoint-admission.yaml")) await client.apply(object);
  // The API server learns of a policy a moment after it was written.
  const asked = {
    ...{ apiVersion: "cluster.x-k8s.io/v1beta1", kind: "ClusterEndpoint" },
    metadata: { name: "odd", namespace: "default" },
  };
  const odd: KubeObject = { ...asked, spec: { cluster: "odd", host: "odd", port: 1, type: "apiserver", unknown: 1 } };
  await eventually(async () => {
    const refusal = await client.apply(odd, { dryRun: true }).then(String, String);
    return refusal.includes("spec has cluster");
  });
}
