import { expect } from "vitest";
import { Seed } from "../../src/api/index.ts";
import { ConfigMap, readClusterIdentity, refTo, type KubeClient } from "../../src/kube/index.ts";
import { createSeedBinding } from "../../src/worker/seed-binding.ts";
import { ownClusterTest } from "../support/cluster-test.ts";
import { startControlPlane, type ControlPlane } from "../support/control-plane.ts";
import { applyGarden } from "../support/garden-objects.ts";

const test = ownClusterTest({ crds: true });
const ref = refTo(Seed, { name: "seed-1" });

let garden: KubeClient;
let other: ControlPlane;

test.beforeAll(async ({ cluster }) => {
  garden = cluster.client;
  other = await startControlPlane();
});
test.afterAll(async () => other.stop());

const bindingOf = (seedClient: KubeClient) =>
  createSeedBinding({ gardenClient: garden, seedClient, seedName: "seed-1" });

test("a Seed that is not there yet is bound to no cluster", async () => {
  expect(await bindingOf(garden).bind()).toBe(false);
});

test("a Seed is the cluster whose worker comes first; a worker of another cluster is told both and the remedy", async () => {
  await applyGarden(garden);
  const [first, second] = await Promise.all([readClusterIdentity(other.client), readClusterIdentity(garden)]);
  expect(await bindingOf(other.client).bind()).toBe(true);
  expect((await garden.read(ref))?.status?.clusterIdentity).toBe(first);
  expect(await bindingOf(other.client).bind()).toBe(true);
  await expect(bindingOf(garden).bind()).rejects.toThrow(
    `Seed seed-1 is the cluster ${first}, and this worker acts on the cluster ${second}`,
  );
});

test("a seed that is bound says in itself which cluster it is, and leaves alone what another writer says", async () => {
  const key = { namespace: "kube-system", name: "cluster-identity" };
  const identity = await readClusterIdentity(other.client);
  const written = await other.client.read(ConfigMap, key);
  expect(written).toMatchObject({ immutable: true, data: { "cluster-identity": identity, origin: "seed" } });
  await other.client.remove(refTo(ConfigMap, key));
  const data = { "cluster-identity": "shoot--a--b", origin: "shoot" };
  await other.client.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: key, immutable: true, data });
  expect(await bindingOf(other.client).bind()).toBe(true);
  expect((await other.client.read(ConfigMap, key))?.data).toEqual(data);
});

test("a Seed that was bound cannot be given to another cluster, and one that is made anew can", async () => {
  const patch = (clusterIdentity: string | null) =>
    garden.patch(ref, { status: { clusterIdentity } }, { subresource: "status" });
  await expect(patch("another")).rejects.toThrow("clusterIdentity cannot be changed once it is set");
  await expect(patch(null)).rejects.toThrow("clusterIdentity cannot be changed once it is set");
  await garden.remove(ref);
  await applyGarden(garden);
  expect(await bindingOf(garden).bind()).toBe(true);
});

test("of two clusters whose workers begin at once, one is the Seed", async () => {
  await garden.remove(ref);
  await applyGarden(garden);
  const both = await Promise.allSettled([bindingOf(garden).bind(), bindingOf(other.client).bind()]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});
