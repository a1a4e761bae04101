import { beforeEach, expect } from "vitest";
import { createComponents } from "../../src/activities/control-plane/components.ts";
import { createResourceManagerRemoval } from "../../src/activities/managed-resources/unused-resource-manager.ts";
import { createProvisioning } from "../../src/activities/secrets/provisioning.ts";
import { ManagedResource, Shoot, type KubeObject } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { components } from "../../src/components/index.ts";
import { refOf, refTo, Secret, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import { exampleContext } from "../support/control-plane-context.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { notedWaits } from "../support/noted-waits.ts";
import { shootRun } from "../support/shoot-run.ts";

/** The API server is garden, seed and Shoot in one. */
const secretNames = ["gardener-resource-manager", "gardener-resource-manager-server"];
let client: KubeClient;
let run: ShootRun;
let runs = 0;

test.beforeAll(async ({ cluster }) => {
  client = cluster.client;
  await applyGarden(client);
});

beforeEach(async () => {
  runs += 1;
  const ref = await createShoot(client, `unused-${runs}`, { seedName: "seed-1" });
  const namespace = `shoot--dev--unused-${runs}`;
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  run = shootRun({ ...ref, technicalID: namespace, managesResources: true, resourceManagerUnasked: true });
});

const shootClients = { get: async () => client, forget: async () => {}, close: async () => {} };
const deps = () => ({ gardenClient: client, seedClient: client, shootClients, waits: notedWaits });
const provide = (of: ShootRun) =>
  createProvisioning({ ...deps(), keptSecrets: () => Promise.resolve(new Map()) }).deploySecrets(of);
const takeAway = () =>
  createResourceManagerRemoval({ ...deps(), components: createComponents(deps()) })(run, "unusedResourceManager");
const isNoted = async () => (await client.read(refTo(Shoot, run)))?.status?.managesResources;
/** No controller runs here that would end what is deleted in the foreground. */
const present = async (objects: readonly KubeObject[]) => {
  const found = await Promise.all(objects.map((object) => client.read(refOf(object))));
  return found.filter((object) => object !== undefined && object.metadata.deletionTimestamp === undefined);
};

/** What is deployed for the Shoot: in the seed, and in the Shoot. */
async function deploy(): Promise<readonly KubeObject[]> {
  await provide(run);
  const context = exampleContext({ namespace: run.technicalID, managesResources: true });
  const objects = (["resource-manager", "resource-manager-webhooks"] as const).flatMap((name) =>
    components[name].objects({ ...context, authority: "an authority" }),
  );
  for (const object of objects) await client.apply(object);
  return objects;
}

const manage = (change: Partial<ManagedResource["spec"]> = {}) =>
  client.apply<ManagedResource>({
    ...{ ...typeMeta(ManagedResource), metadata: { namespace: run.technicalID, name: "extension" } },
    spec: { secretRefs: [{ name: "extension" }], ...change },
  });

test("a resource manager that manages nothing goes with its webhooks, its Secrets and the note of it", async () => {
  const objects = await deploy();
  expect(await isNoted()).toBe(true);
  expect(await present(objects)).toHaveLength(objects.length);
  const ending = await takeAway();
  expect(ending).toMatchObject([{ kind: "Deployment", name: "gardener-resource-manager", until: "gone" }]);
  expect(await present(objects)).toEqual([]);
  for (const name of secretNames)
    expect(await client.read(Secret, { namespace: run.technicalID, name })).toBeUndefined();
  expect(await isNoted()).toBeUndefined();
});

test("a resource manager stays whole as long as a ManagedResource is left that others have made", async () => {
  const objects = await deploy();
  const left = await manage();
  expect(await takeAway()).toEqual([]);
  expect(await present(objects)).toHaveLength(objects.length);
  expect(await isNoted()).toBe(true);
  expect(await client.read(refOf(left))).toMatchObject({ spec: left.spec });
  expect((await client.read(refOf(left)))?.metadata.deletionTimestamp).toBeUndefined();
  await client.remove(refOf(left));
  expect(await takeAway()).toHaveLength(1);
  expect(await isNoted()).toBeUndefined();
});

test("a resource manager stays as long as it renews the token of another's Secret", async () => {
  await deploy();
  const labels = { "resources.gardener.cloud/purpose": "token-requestor", "resources.gardener.cloud/class": "shoot" };
  const metadata = { namespace: run.technicalID, name: "shoot-access-extension", labels };
  await client.apply({ apiVersion: "v1", kind: "Secret", metadata });
  expect(await takeAway()).toEqual([]);
  expect(await isNoted()).toBe(true);
});

test("what the seed's own resource manager applies in the Shoot's namespace does not keep the Shoot's", async () => {
  await deploy();
  await manage({ class: "seed" });
  expect(await takeAway()).toHaveLength(1);
});

test("a removal that was cut off anywhere is taken up again", async () => {
  await deploy();
  await client.remove(refTo(Secret, { namespace: run.technicalID, name: "gardener-resource-manager" }));
  await takeAway();
  await takeAway();
  expect(await isNoted()).toBeUndefined();
});

test("a resource manager that an earlier release has deployed is noted by its Secret, and any other Shoot has no note", async () => {
  const { managesResources: _, resourceManagerUnasked: __, ...unknown } = run;
  await provide(unknown);
  expect(await isNoted()).toBeUndefined();
  const metadata = { namespace: run.technicalID, name: "gardener-resource-manager" };
  await client.apply({ apiVersion: "v1", kind: "Secret", metadata });
  await provide(unknown);
  expect(await isNoted()).toBe(true);
});
