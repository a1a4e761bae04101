import { afterEach, beforeEach, expect } from "vitest";
import { Seed, Shoot } from "../../src/api/index.ts";
import { createScheduler, type SchedulerDeps } from "../../src/controllers/scheduler/scheduler.ts";
import { now, refTo, type KubeClient, type Occurrence } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { seedReady } from "../support/migration-objects.ts";
import { seconds } from "../support/patience.ts";

const namespace = "garden-dev";
const seedRef = (name: string) => refTo(Seed, { name });
const shootRef = (name: string) => refTo(Shoot, { namespace, name });

let client: KubeClient;
let told: Occurrence[];
let stop: (() => Promise<void>) | undefined;

test.beforeAll(({ cluster }) => void (client = cluster.client));
beforeEach(async () => {
  told = [];
  await applyGarden(client);
  await client.remove(seedRef("seed-1"));
});
afterEach(async () => {
  await stop?.();
  stop = undefined;
  await client.removeAll(Shoot, { namespace });
  await client.removeAll(Seed, {});
  await eventually(async () => expect(await client.list(Shoot)).toEqual([]));
});

const start = (change: Partial<SchedulerDeps> = {}) => {
  const events = { record: (occurrence: Occurrence) => void told.push(occurrence) };
  const log = createLogger({ name: "test", level: "silent" });
  const scheduler = createScheduler({ gardenClient: client, strategy: "SameRegion", events, log, ...change });
  scheduler.start();
  stop = scheduler.stop;
};

const unbound = (name: string, change: Partial<Shoot["spec"]> = {}) =>
  createShoot(client, name, { seedName: undefined, dns: undefined, ...change });

async function addSeed(name: string, shoots: number, region = "local"): Promise<void> {
  await client.apply<Seed>({
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "Seed",
    metadata: { name },
    spec: {
      provider: { type: "local", region },
      networks: { pods: "10.226.0.0/16", services: "10.227.0.0/16" },
      dns: {},
    },
  });
  const conditions = [seedReady()];
  await client.patch(seedRef(name), { status: { allocatable: { shoots }, conditions } }, { subresource: "status" });
}

const seedOf = async (name: string) => (await client.read(shootRef(name)))?.spec.seedName;
const conditionOf = async (name: string) =>
  (await client.read(shootRef(name)))?.status?.conditions?.find(({ type }) => type === "Scheduled");

test("a Shoot without a Seed gets one, and its users are told", async () => {
  await addSeed("seed-a", 1);
  await unbound("one");
  start();
  await eventually(async () => expect(await seedOf("one")).toBe("seed-a"));
  await eventually(async () =>
    expect(await conditionOf("one")).toMatchObject({ status: "True", reason: "SeedChosen" }),
  );
  await eventually(() =>
    expect(told.map(({ reason, note }) => [reason, note])).toEqual([
      ["SchedulingSuccessful", "The scheduler has chosen Seed seed-a."],
    ]),
  );
});

test(
  "two hundred Shoots at once fill Seeds to their capacity and no further",
  async () => {
    await addSeed("seed-a", 70);
    await addSeed("seed-b", 90);
    const names = Array.from({ length: 200 }, (_, index) => `s${index}`);
    start();
    for (let at = 0; at < names.length; at += 20)
      await Promise.all(names.slice(at, at + 20).map((name) => unbound(name)));
    const placed = async () => (await client.list(Shoot)).map(({ spec }) => spec.seedName ?? "none").sort();
    const count = (all: readonly string[], name: string) => all.filter((one) => one === name).length;
    await eventually(async () => expect(count(await placed(), "none")).toBe(40), 60_000);
    const all = await placed();
    expect([count(all, "seed-a"), count(all, "seed-b")]).toEqual([70, 90]);
    await eventually(async () => {
      const waiting = (await client.list(Shoot)).filter(({ spec }) => !spec.seedName);
      for (const { status } of waiting)
        expect(status?.conditions?.[0]?.message).toContain(
          "Seed seed-b takes 90 Shoots (status.allocatable) and has 90",
        );
    });
  },
  seconds(120),
);

test("a Shoot that no Seed takes says of each Seed why, and gets the first that does later", async () => {
  await addSeed("seed-a", 0);
  await addSeed("seed-b", 9, "elsewhere");
  await unbound("waiting");
  start({ period: 600_000 });
  await eventually(async () => {
    const { status, message } = (await conditionOf("waiting")) ?? {};
    expect(status).toBe("False");
    expect(message).toMatch(
      /^None of 2 Seeds takes the Shoot: Seed seed-a takes 0 Shoots .*; Seed seed-b is in region/,
    );
  });
  await eventually(() => expect(told[0]).toMatchObject({ type: "Warning", reason: "SchedulingFailed" }));
  const { resourceVersion } = (await client.read(shootRef("waiting")))?.metadata ?? {};
  await client.patch(seedRef("seed-b"), { metadata: { labels: { a: "b" } } });
  await client.patch(seedRef("seed-b"), { metadata: { labels: { a: null } } });
  expect((await client.read(shootRef("waiting")))?.metadata.resourceVersion).toBe(resourceVersion); // says it once
  await client.patch(seedRef("seed-a"), { status: { allocatable: { shoots: 1 } } }, { subresource: "status" });
  await eventually(async () => expect(await seedOf("waiting")).toBe("seed-a"));
});

test("the last place of a Seed goes to the next Shoot when one leaves", async () => {
  await addSeed("seed-a", 1);
  await unbound("first");
  start({ period: 600_000 });
  await eventually(async () => expect(await seedOf("first")).toBe("seed-a"));
  await unbound("second");
  await eventually(async () => expect((await conditionOf("second"))?.status).toBe("False"));
  await client.remove(shootRef("first"));
  await eventually(async () => expect(await seedOf("second")).toBe("seed-a"));
});

test("a Shoot that asks for another scheduler, or is being deleted, is left alone", async () => {
  await addSeed("seed-a", 9);
  await unbound("theirs", { schedulerName: "another" });
  await unbound("going");
  await client.patch(shootRef("going"), { metadata: { finalizers: ["example.com/theirs"] } });
  await client.remove(shootRef("going"));
  await unbound("ours");
  start();
  await eventually(async () => expect(await seedOf("ours")).toBe("seed-a"));
  expect([await seedOf("theirs"), await seedOf("going")]).toEqual([undefined, undefined]);
  await client.patch(shootRef("going"), { metadata: { finalizers: null } });
});

test("conditions of others stay when the scheduler says what became of a Shoot", async () => {
  await addSeed("seed-a", 9);
  await unbound("theirs");
  const theirs = { type: "Theirs", status: "True", reason: "A", message: "b" };
  const conditions = [{ ...theirs, lastTransitionTime: now(), lastUpdateTime: now() }];
  await client.patch(shootRef("theirs"), { status: { conditions } }, { subresource: "status" });
  start();
  await eventually(async () => expect((await conditionOf("theirs"))?.status).toBe("True"));
  expect((await client.read(shootRef("theirs")))?.status?.conditions?.map(({ type }) => type)).toContain("Theirs");
});

test("the nearest Seed by the garden's ConfigMap is chosen where distances decide", async () => {
  await addSeed("seed-a", 9, "far");
  await addSeed("seed-b", 9, "near");
  await client.apply({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: "regions",
      namespace: "garden",
      labels: { "scheduling.gardener.cloud/purpose": "region-config" },
      annotations: { "scheduling.gardener.cloud/cloudprofiles": "other, local" },
    },
    data: { local: "far: 90\nnear: 10\n" },
  });
  await unbound("near");
  start({ strategy: "MinimalDistance" });
  await eventually(async () => expect(await seedOf("near")).toBe("seed-b"));
});
