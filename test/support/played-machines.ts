import { CLUSTER_NAME_LABEL, CONTROL_PLANE_LABEL, Machine } from "../../src/api/cluster-api/index.ts";
import { typeMeta, type KubeClient, type NamespacedKey, define } from "../../src/kube/index.ts";
import { contractKind } from "./contract-kind.ts";

const kind = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "PlayedMachine" } as const;

/** Serves the kind of machines that tests play, as an infrastructure provider does by contract v1beta2. */
export async function servePlayedMachines(client: KubeClient): Promise<void> {
  await define(client, [contractKind("infrastructure", kind.kind)]);
}

/** Has a Machine of a Cluster's control plane, and an infrastructure that has provided it; core gives the Machine its address. */
export async function playMachine(
  client: KubeClient,
  cluster: NamespacedKey,
  { name, address }: { readonly name: string; readonly address: string },
): Promise<void> {
  const { namespace } = cluster;
  const labels = { [CLUSTER_NAME_LABEL]: cluster.name, [CONTROL_PLANE_LABEL]: "" };
  const played = { apiVersion: `${kind.apiGroup}/v1alpha1`, kind: kind.kind, metadata: { namespace, name, labels } };
  await client.apply({ ...played, spec: { providerID: `played:///${name}` } });
  const status = { initialization: { provisioned: true }, addresses: [{ type: "InternalIP", address }] };
  await client.applyStatus({ ...played, status });
  await client.apply<Machine>({
    ...typeMeta(Machine),
    metadata: { namespace, name, labels },
    spec: { clusterName: cluster.name, bootstrap: { dataSecretName: "none" }, infrastructureRef: { ...kind, name } },
  });
}
