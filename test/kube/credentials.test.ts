import { expect } from "vitest";
import { createProvisioning } from "../../src/activities/secrets/provisioning.ts";
import type { CredentialsBinding } from "../../src/api/index.ts";
import { refTo, Secret, type KubeClient } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";

let client: KubeClient;

test.beforeAll(async ({ cluster }) => {
  client = cluster.client;
  await applyGarden(client);
});

// The Secret and the WorkloadIdentity bear the same name: what is read must not depend on the name alone.
test.each([
  ["Secret", "v1", true],
  ["WorkloadIdentity", "security.gardener.cloud/v1alpha1", false],
])("credentials in a %s of %s are copied into the seed: %s", async (kind, apiVersion, copied) => {
  const name = `by-${kind.toLowerCase()}`;
  const namespace = "garden-dev";
  await client.apply<Secret>({
    ...{ apiVersion: "v1", kind: "Secret", type: "Opaque" },
    metadata: { name, namespace },
    data: { key: Buffer.from("secret").toString("base64") },
  });
  await client.apply<CredentialsBinding>({
    ...{ apiVersion: "security.gardener.cloud/v1alpha1", kind: "CredentialsBinding" },
    metadata: { name, namespace },
    provider: { type: "local" },
    credentialsRef: { apiVersion, kind, name, namespace },
  });
  const run = await createShoot(client, name.slice(0, 9), { credentialsBindingName: name });
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: run.technicalID } });
  const { deployCloudProviderSecret } = createProvisioning({
    gardenClient: client,
    seedClient: client,
    shootClients: { get: async () => client, close: async () => undefined } as never,
    keptSecrets: async () => new Map(),
  });
  const deployed = deployCloudProviderSecret(run);
  if (copied) await deployed;
  else await expect(deployed).rejects.toThrow(`names WorkloadIdentity ${name}, but this garden issues no tokens`);
  const secret = await client.read(refTo(Secret, { namespace: run.technicalID, name: "cloudprovider" }));
  expect(secret?.data).toEqual(copied ? { key: Buffer.from("secret").toString("base64") } : undefined);
});
