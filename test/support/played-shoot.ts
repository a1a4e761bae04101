import { ROLE_LABEL, POOL_LABEL } from "../../src/api/labels.ts";
import { kubeconfigSecretName } from "../../src/api/names.ts";
import { Shoot } from "../../src/api/index.ts";
import { Node, refTo, Secret, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import type { ControlPlane } from "./control-plane.ts";

/** Names a Shoot in the garden. */
interface Key {
  readonly namespace: string;
  readonly name: string;
}

/** Writes into a Shoot's status what its flow writes as soon as there is an address, before the API server answers. */
export async function advertise(client: KubeClient, key: Key, url: string): Promise<void> {
  const advertisedAddresses = [{ name: "external", url }];
  await patchStatus(client, key, { advertisedAddresses, lastOperation: operation("Create", "Processing", 40) });
}

/** Writes what a Shoot's flow writes when it is done: its API server is the test's own, and it is healthy. */
export async function finish({ client, tokenKubeconfig }: ControlPlane, key: Key): Promise<void> {
  await publish(client, key, tokenKubeconfig);
  const conditions = ["APIServerAvailable", "ControlPlaneHealthy"].map((type) => condition(type, "True"));
  await patchStatus(client, key, {
    conditions,
    seedName: "seed-1",
    lastOperation: operation("Create", "Succeeded", 100),
  });
}

/** Publishes a Shoot's kubeconfig where the flow does. */
export async function publish(client: KubeClient, { namespace, name }: Key, kubeconfig: string): Promise<void> {
  const metadata = { namespace, name: kubeconfigSecretName(name), labels: { [ROLE_LABEL]: "kubeconfig" } };
  const data = { kubeconfig: Buffer.from(kubeconfig).toString("base64") };
  await client.apply<Secret>({ ...typeMeta(Secret), metadata, type: "Opaque", data });
}

/** Merges into a Shoot's status. */
export async function patchStatus(client: KubeClient, key: Key, status: object): Promise<void> {
  await client.patch(refTo(Shoot, key), { status }, { subresource: "status" });
}

/** Has a machine join as a Node of this worker pool. */
export async function join(client: KubeClient, name: string, pool: string): Promise<void> {
  const metadata = { name, labels: { [POOL_LABEL]: pool } };
  await client.apply({ ...typeMeta(Node), metadata, spec: { providerID: providerIDOf(name) } });
}

/** Has a Node say that its kubelet is of this version, with a leading v. */
export async function runKubelet(client: KubeClient, name: string, kubeletVersion: string): Promise<void> {
  await client.patch(refTo(Node, { name }), { status: { nodeInfo: { kubeletVersion } } }, { subresource: "status" });
}

/** What the provider of the tests calls a machine. */
export const providerIDOf = (name: string): string => `test:///${name}`;

/** A condition of a Shoot, of now. */
export function condition(type: string, status: "True" | "False") {
  const at = new Date().toISOString();
  return { type, status, reason: "Played", message: `it is ${status}`, lastTransitionTime: at, lastUpdateTime: at };
}

/** A Shoot's last operation. */
export const operation = (type: string, state: string, progress: number) => ({
  ...{ type, state, progress, description: "" },
  lastUpdateTime: new Date().toISOString(),
});
