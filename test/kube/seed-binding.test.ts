import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { Seed } from "../../src/api/index.ts";
import { BoundElsewhere } from "../../src/binding/bound-elsewhere.ts";
import { createMemory, readMemories } from "../../src/binding/memory.ts";
import { createSeedRegister } from "../../src/binding/seed-register.ts";
import { createBindingGuard } from "../../src/extension/binding-guard.ts";
import { createLogger } from "../../src/log.ts";
import { extensionObject } from "../unit/extension/extension-object.ts";
import { ConfigMap, readClusterIdentity, refTo, type KubeClient } from "../../src/kube/index.ts";
import { createSeedBinding } from "../../src/worker/seed-binding.ts";
import { test } from "../support/cluster-test.ts";
import { startControlPlane, type ControlPlane } from "../support/control-plane.ts";
import { applyGarden } from "../support/garden-objects.ts";

const ref = refTo(Seed, { name: "seed-1" });

let garden: KubeClient;
let other: ControlPlane;

test.beforeAll(async ({ cluster }) => {
  garden = cluster.client;
  other = await startControlPlane();
  await garden.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "perennial-seeds" } });
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

describe("a copy of a seed that was restored from a backup of its etcd", () => {
  const seed = async () => ({ name: "seed-1", uid: (await garden.read(ref))?.metadata.uid ?? "" });
  const revisionOf = async (client: KubeClient) => (await readMemories(client)).map(({ revision }) => revision);
  const log = createLogger({ name: "test", level: "silent" });
  /** What an extension controller of a cluster may do; a new process each time. */
  const enter = async (client: KubeClient) => {
    const guard = createBindingGuard({ read: () => readMemories(client), log });
    const operation = { object: extensionObject({}), cluster: undefined, type: "reconcile" } as never;
    (await guard.enter(operation)).release();
  };
  let copy: ControlPlane;
  let folder: string;

  test.beforeAll(async () => {
    await garden.remove(ref);
    await applyGarden(garden);
    await bindingOf(other.client).bind();
    folder = await mkdtemp(join(tmpdir(), "perennial-seed-copy-"));
    const snapshot = join(folder, "snapshot.db");
    await other.etcdctl("snapshot", "save", snapshot);
    copy = await startControlPlane({ snapshot });
  });
  test.afterAll(async () => {
    await copy.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test("has the identity and the revision of the original", async () => {
    expect(await readClusterIdentity(copy.client)).toBe(await readClusterIdentity(other.client));
    expect(await revisionOf(copy.client)).toEqual(await revisionOf(other.client));
  });

  test("is refused once the original has advanced, by its worker and by its extension controllers", async () => {
    for (let restart = 0; restart < 2; restart += 1) await bindingOf(other.client).bind();
    const refused = bindingOf(copy.client).bind();
    await expect(refused).rejects.toBeInstanceOf(BoundElsewhere);
    await expect(refused).rejects.toThrow(
      /the garden names revision \d+-\w{16} of Seed seed-1, and this cluster is at revision/,
    );
    await expect(enter(copy.client)).rejects.toThrow("it is a copy, or was restored from a backup");
    await enter(other.client);
    await bindingOf(other.client).bind();
  });

  test("becomes the Seed when an operator decides so, and then the original is refused", async () => {
    const register = createSeedRegister(garden, await seed());
    const claim = await register.readClaim();
    expect(claim).toBeDefined();
    if (claim !== undefined) expect(await register.rebind(await register.read(), claim)).toBe(true);
    expect(await bindingOf(copy.client).bind()).toBe(true);
    await enter(copy.client);
    await expect(bindingOf(other.client).bind()).rejects.toThrow(`perennial seed rebind seed-1 --to`);
    await expect(enter(other.client)).rejects.toThrow("it is a copy, or was restored from a backup");
  });

  test("is told from a garden that was restored", async () => {
    const version = { namespace: "perennial-seeds", name: "seed-1" } as const;
    const before = await garden.read(ConfigMap, version);
    await bindingOf(copy.client).bind();
    await garden.patch(refTo(ConfigMap, version), { data: before?.data ?? {} });
    await expect(bindingOf(copy.client).bind()).rejects.toThrow("the garden was restored from a backup");
    await enter(copy.client);
  });

  test("does not act for a garden that was restored together with it, and was refused or has yet to confirm its own revision", async () => {
    const revision = "1-0123456789abcdef";
    const memory = createMemory(garden, "garden");
    const asSeed = createMemory(garden, "seed.other"); // which a copy of the garden confirms by its own register
    await asSeed.write(await asSeed.read(), { revision, confirmedAt: new Date().toISOString() });
    await memory.write(await memory.read(), { revision, confirmedAt: "2026-01-01T00:00:00.000Z" });
    await expect(bindingOf(copy.client).bind()).rejects.toThrow("nothing has confirmed its binding since 2026-01-01");
    await memory.write(await memory.read(), { revision, refused: "Temporal's namespace is at revision 9" });
    const refused = bindingOf(copy.client).bind();
    await expect(refused).rejects.toBeInstanceOf(BoundElsewhere);
    await expect(refused).rejects.toThrow("Temporal's namespace is at revision 9");
    await memory.write(await memory.read(), { revision, confirmedAt: new Date().toISOString() });
    await expect(bindingOf(copy.client).bind()).rejects.toThrow("the garden was restored from a backup");
  });
});
