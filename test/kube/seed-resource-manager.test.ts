import { X509Certificate } from "node:crypto";
import { beforeEach, expect } from "vitest";
import {
  deploySeedResourceManager,
  keepSeedResourceManager,
} from "../../src/activities/managed-resources/seed-resource-manager.ts";
import { RESOURCE_MANAGER_ANNOTATION } from "../../src/api/annotations.ts";
import { RESOURCE_MANAGER, RESOURCE_MANAGER_SERVER, SEED_NAMESPACE } from "../../src/components/index.ts";
import { Deployment, Namespace, refTo, Secret, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createSeedResourceManagerCare } from "../../src/worker/seed-resource-manager.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";

const deployment = refTo(Deployment, { namespace: SEED_NAMESPACE, name: RESOURCE_MANAGER });
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
let client: KubeClient;

test.beforeAll(({ cluster }) => void (client = cluster.client));
beforeEach(async () => {
  const annotations = { [RESOURCE_MANAGER_ANNOTATION]: "true" };
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: SEED_NAMESPACE, annotations } });
});

const certificate = async () => {
  const secret = await client.read(Secret, { namespace: SEED_NAMESPACE, name: RESOURCE_MANAGER_SERVER });
  return new X509Certificate(Buffer.from(secret?.data?.["tls.crt"] ?? "", "base64"));
};

test("a seed that has no resource manager is given none", async () => {
  await keepSeedResourceManager(client);
  expect(await client.read(deployment)).toBeUndefined();
});

test("its certificate is renewed in a year in which nothing is installed, and its pods with it", async () => {
  await deploySeedResourceManager(client);
  const [before, template] = [await certificate(), (await client.read(deployment))?.spec];
  await keepSeedResourceManager(client, inDays(30));
  expect((await certificate()).fingerprint256).toBe(before.fingerprint256);
  await keepSeedResourceManager(client, inDays(364));
  expect((await certificate()).validToDate.getTime()).toBeGreaterThan(inDays(400).getTime());
  expect((await client.read(deployment))?.spec).not.toEqual(template);
});

test("the worker deploys a resource manager again that was deleted, unless its operator wants it no more", async () => {
  await deploySeedResourceManager(client);
  const care = createSeedResourceManagerCare({
    ...{ seedClient: client, log: createLogger({ name: "test", level: "silent" }), period: 50 },
  });
  care.start();
  await client.remove(deployment);
  await eventually(async () => expect(await client.read(deployment)).toBeDefined());
  const annotations = { [RESOURCE_MANAGER_ANNOTATION]: null };
  await client.patch(refTo(Namespace, { name: SEED_NAMESPACE }), { metadata: { annotations } });
  await new Promise((resolve) => setTimeout(resolve, 300));
  await client.remove(deployment);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await client.read(deployment)).toBeUndefined();
  await care.stop();
});
