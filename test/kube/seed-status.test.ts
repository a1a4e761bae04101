import { afterAll, expect } from "vitest";
import { BackupBucket, Seed } from "../../src/api/index.ts";
import { refTo, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { bucketCondition } from "../../src/worker/backup/seed-bucket.ts";
import { createSeedStatus } from "../../src/worker/seed-status.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { applyGarden } from "../support/garden-objects.ts";
import { newStateKey } from "../support/state-keys.ts";

const core = "core.gardener.cloud/v1beta1";
const key = newStateKey("seed-1");
const ref = refTo(Seed, { name: "seed-1" });
const log = createLogger({ name: "test", level: "silent" });

let kube: KubeClient;
let status: ReturnType<typeof createSeedStatus>;

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await applyGarden(kube);
  status = createSeedStatus({
    ...{ gardenClient: kube, seedClient: kube, seedName: "seed-1", stateKey: key.publicKey, capacity: 40, log },
    period: 100,
  });
  status.start();
});

afterAll(async () => status.stop());

test("a seed that is served says so again and again", async () => {
  const first = await eventually(async () => (await condition("GardenletReady")) ?? false);
  expect(first).toMatchObject({ status: "True" });
  await eventually(async () => (await condition("GardenletReady"))?.lastUpdateTime !== first.lastUpdateTime);
  expect((await condition("GardenletReady"))?.lastTransitionTime).toBe(first.lastTransitionTime);
  expect((await read()).status?.kubernetesVersion).toMatch(/^v1\./);
  expect((await read()).status).toMatchObject({ capacity: { shoots: "40" }, allocatable: { shoots: "40" } });
  expect((await read()).status?.stateKey).toEqual(key.publicKey); // what is wrapped for it, it can open
});

test("a seed says how its bucket is, and nothing of one that it does not keep", async () => {
  const seed = await read();
  const { backup: _, ...spareless } = seed.spec;
  expect(bucketCondition({ ...seed, spec: spareless }, undefined)).toBeUndefined();
  await says({ status: "Unknown", reason: "BackupBucketsGone" });
  const { uid: name = "" } = seed.metadata;
  const bucket = refTo(BackupBucket, { name });
  const spec = { provider: { type: "local", region: "local" }, seedName: "seed-1" };
  await kube.create({ apiVersion: core, kind: "BackupBucket", metadata: { name }, spec } as never);
  await says({ status: "Progressing", message: `BackupBucket ${name} has not been made yet.` });
  const lastUpdateTime = "2026-01-01T00:00:00Z";
  const set = (type: string, state: string, description = "done", lastError: object | null = null) =>
    kube.patch(
      bucket,
      { status: { lastOperation: { type, state, progress: 50, description, lastUpdateTime }, lastError } },
      { subresource: "status" },
    );
  await set("Create", "Error", "failing", { description: "no such key" });
  await says({ status: "False", reason: "BackupBucketsError", message: `BackupBucket ${name}: no such key` });
  await set("Create", "Succeeded");
  await says({ status: "True", reason: "BackupBucketsAvailable" });
  await set("Reconcile", "Processing");
  await new Promise((resolve) => setTimeout(resolve, 500));
  await says({ status: "True" });
});

test("conditions of others stay, also when they come between reading and writing", async () => {
  const time = "2026-01-01T00:00:00Z";
  const times = { lastTransitionTime: time, lastUpdateTime: time };
  const foreign = (message: string) => ({ type: "ExtensionsReady", status: "True", reason: "Test", message, ...times });
  for (let round = 1; round <= 20; round += 1) {
    await eventually(async () => {
      const { metadata, status = {} } = await read();
      const others = (status.conditions ?? []).filter(({ type }) => type !== "ExtensionsReady");
      const conditions = [...others, foreign(`round ${round}`)];
      const change = { metadata: { resourceVersion: metadata.resourceVersion }, status: { conditions } };
      await kube.patch(ref, change, { subresource: "status" });
    });
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect((await condition("ExtensionsReady"))?.message).toBe(`round ${round}`);
  }
});

async function says(expected: object): Promise<void> {
  await eventually(async () => expect(await condition("BackupBucketsReady")).toMatchObject(expected));
}

async function condition(type: string) {
  return (await read()).status?.conditions?.find((one) => one.type === type);
}

async function read(): Promise<Seed> {
  const seed = await kube.read(ref);
  if (!seed) throw new Error("there is no Seed");
  return seed;
}
