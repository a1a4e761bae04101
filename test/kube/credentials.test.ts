import { expect } from "vitest";
import { deployDnsCredentials } from "../../src/activities/control-plane/dns.ts";
import { createProvisioning } from "../../src/activities/secrets/provisioning.ts";
import type { CredentialsBinding, SecretBinding, Seed } from "../../src/api/index.ts";
import { refOf, refTo, Secret, type KubeClient } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";
import { exampleContext } from "../support/control-plane-context.ts";
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
  const deployed = provisioning().deployCloudProviderSecret(run);
  if (copied) await deployed;
  else await expect(deployed).rejects.toThrow(`names WorkloadIdentity ${name}, but this garden issues no tokens`);
  const secret = await client.read(refTo(Secret, { namespace: run.technicalID, name: "cloudprovider" }));
  expect(secret?.data).toEqual(copied ? { key: Buffer.from("secret").toString("base64") } : undefined);
});

test("the Secret that a SecretBinding names is copied into the seed, and one that is not there is named", async () => {
  const metadata = { name: "by-binding", namespace: "garden-dev" };
  const data = { key: Buffer.from("secret").toString("base64") };
  const secret = await client.apply<Secret>({ apiVersion: "v1", kind: "Secret", type: "Opaque", metadata, data });
  await client.apply<SecretBinding>({
    ...{ apiVersion: "core.gardener.cloud/v1beta1", kind: "SecretBinding", metadata },
    provider: { type: "local" },
    secretRef: metadata,
  });
  const names = { credentialsBindingName: undefined, secretBindingName: metadata.name };
  const run = await createShoot(client, "bound", names);
  await provisioning().deployCloudProviderSecret(run);
  const copy = refTo(Secret, { namespace: run.technicalID, name: "cloudprovider" });
  expect(await client.read(copy)).toMatchObject({ data });
  await client.remove(refOf(secret));
  await expect(provisioning().deployCloudProviderSecret(run)).rejects.toThrow(
    "Secret garden-dev/by-binding with the provider's credentials does not exist",
  );
});

test("a Seed's default domain is found by its name, however that is spelled", async () => {
  const metadata = { name: "default-domain", namespace: "garden-dev" };
  await client.apply<Secret>({ apiVersion: "v1", kind: "Secret", metadata, data: { key: "YQ==" } });
  const { seed, ...context } = exampleContext();
  const defaults = [
    { type: "local", domain: "Dev.Perennial.Test.", credentialsRef: { apiVersion: "v1", kind: "Secret", ...metadata } },
  ];
  const withDefault = { ...seed, spec: { ...seed?.spec, dns: { defaults } } } as Seed;
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: context.namespace } });
  const deployed = deployDnsCredentials(client, client, { ...context, seed: withDefault }, "external");
  expect(await deployed).toEqual({ type: "local" });
});

const provisioning = () =>
  createProvisioning({
    gardenClient: client,
    seedClient: client,
    shootClients: { get: async () => client, close: async () => undefined } as never,
    keptSecrets: async () => new Map(),
  });
