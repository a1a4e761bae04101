import { expect } from "vitest";
import { keepGardenAccess } from "../../src/activities/installation/garden-access.ts";
import { gardenSecrets } from "../../src/activities/installation/garden-kubeconfig.ts";
import { EXTENSION_IDENTITIES_NAMESPACE, installationAccount, installationNamespace } from "../../src/api/names.ts";
import { Secret, type KubeClient } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";

const name = "calico-seed-1";
const namespace = installationNamespace(name);
const hour = 3_600_000;
let client: KubeClient;

test.beforeAll(async ({ cluster }) => {
  client = cluster.client;
  for (const one of [EXTENSION_IDENTITIES_NAMESPACE, namespace])
    await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: one } });
});

const tokenAfter = async (hours: number) => {
  const now = () => new Date(Date.now() + hours * hour);
  const gardenAddress = { server: "https://garden.example.org" };
  const renewal = await keepGardenAccess({ gardenClient: client, seedClient: client, gardenAddress, now }, { name });
  const secret = await client.read(Secret, { namespace, name: gardenSecrets.token });
  return { token: secret?.data?.["token"], renewal };
};

test("the seed's worker renews an extension's access to the garden when half of its life is over", async () => {
  await expect(tokenAfter(0)).rejects.toThrow("the manager makes it");
  const metadata = { namespace: EXTENSION_IDENTITIES_NAMESPACE, name: installationAccount(name) };
  await client.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata });
  const { token, renewal } = await tokenAfter(0);
  expect(token).toBeTypeOf("string");
  expect(renewal.getTime() - Date.now()).toBeGreaterThan(5.9 * hour);
  expect(renewal.getTime() - Date.now()).toBeLessThan(6.1 * hour);
  expect((await tokenAfter(5)).token).toBe(token);
  await new Promise((resolve) => setTimeout(resolve, 1_100)); // tokens of one second are the same
  expect((await tokenAfter(7)).token).not.toBe(token);
});
