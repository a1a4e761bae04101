import {
  CLUSTER_NAME_LABEL,
  Cluster,
  CONTROL_PLANE_LABEL,
  EndpointRecord,
  Machine,
} from "../../src/api/cluster-api/index.ts";
import { createExtensionController } from "../../src/extension/index.ts";
import { renderKubeconfig, Secret, typeMeta, type KubeClient, type NamespacedKey } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createDnsRecordActuator } from "../../src/provider-local/dns/record.ts";
import type { TestNameServer } from "./name-server.ts";

/** A record of Cluster `<name>`, for `<name>.perennial.test`, with credentials of Secret `dns`. */
export function recordOf(
  { namespace, name }: NamespacedKey,
  spec: Partial<EndpointRecord["spec"]> = {},
): EndpointRecord {
  const provider = { type: "rfc2136", secretRef: { name: "dns" } };
  const usual = { cluster: name, name: `${name}.perennial.test`, port: 6443, ttl: 1, provider };
  return { ...typeMeta(EndpointRecord), metadata: { namespace, name }, spec: { ...usual, ...spec } };
}

/** A Cluster whose control plane and infrastructure are of others. */
export const clusterNamed = ({ namespace, name }: NamespacedKey): Cluster => ({
  ...typeMeta(Cluster),
  metadata: { namespace, name },
  spec: { controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "FooControlPlane", name } },
});

/** Has a Machine of a Cluster's control plane with these addresses, as an infrastructure reports them. */
export async function applyMachine(
  client: KubeClient,
  cluster: NamespacedKey,
  { name, addresses }: { readonly name: string; readonly addresses: readonly { type: string; address: string }[] },
): Promise<void> {
  const labels = { [CLUSTER_NAME_LABEL]: cluster.name, [CONTROL_PLANE_LABEL]: "" };
  const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "FooMachine", name };
  const machine: Machine = {
    ...typeMeta(Machine),
    metadata: { namespace: cluster.namespace, name, labels },
    spec: { clusterName: cluster.name, bootstrap: { dataSecretName: "none" }, infrastructureRef },
  };
  await client.apply(machine);
  await client.applyStatus({ ...machine, status: { addresses: [...addresses] } });
}

/** Has the Secret by which the API servers of a Cluster are known. */
export async function applyTrust(client: KubeClient, { namespace, name }: NamespacedKey, ca: string): Promise<void> {
  const kubeconfig = renderKubeconfig({ server: `https://${name}.perennial.test:6443`, ca, token: "none" });
  await client.apply({
    ...typeMeta(Secret),
    metadata: { namespace, name: `${name}-kubeconfig`, labels: { [CLUSTER_NAME_LABEL]: name } },
    type: "cluster.x-k8s.io/secret",
    data: { value: Buffer.from(kubeconfig).toString("base64") },
  });
}

/** Has Secret `dns` of a namespace, with which names of the server's zone may be changed. */
export async function applyDnsCredentials(client: KubeClient, namespace: string, dns: TestNameServer): Promise<void> {
  const { key, zone, endpoint: Server } = dns;
  const stringData = {
    ...{ Server, Zone: zone, TSIGKeyName: key.name, TSIGSecret: key.secret, TSIGSecretAlgorithm: key.algorithm },
  };
  await client.apply({ ...typeMeta(Secret), metadata: { namespace, name: "dns" }, stringData });
}

/** Runs the local provider's DNS extension in a cluster, as the garden has it. */
export function startDnsExtension(client: KubeClient): { stop(): Promise<void> } {
  const log = createLogger({ name: "test", level: "silent" });
  const kind = { kind: "DNSRecord", type: "rfc2136", class: "garden" } as const;
  const controller = createExtensionController({ client, log, ...kind, actuator: createDnsRecordActuator() });
  controller.start();
  return controller;
}
