import { describe, expect } from "vitest";
import { WAIT_ANNOTATION } from "../../src/api/annotations.ts";
import { createExtensions } from "../../src/activities/extensions/extensions.ts";
import type { OperationStatus } from "../../src/activities/index.ts";
import { createShootStatus } from "../../src/activities/shoot/status.ts";
import { readShootView } from "../../src/activities/shoot/view.ts";
import { Shoot } from "../../src/api/index.ts";
import { moveOf } from "../../src/api/placement/move.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { createReflector, type KubeClient, readClusterIdentity, refTo } from "../../src/kube/index.ts";
import { test as it } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { answer, infrastructureOf } from "../support/waiting-lab.ts";
import { notedWaits } from "../support/noted-waits.ts";

const periods = {
  syncPeriod: 3_600_000,
  retryDuration: 43_200_000,
  leaseSeconds: 60,
  dnsTtl: 120,
  seedDeadline: 120_000,
};
let kube: KubeClient;
let count = 0;

it.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await applyGarden(kube);
});
const newShoot = (spec: Partial<Shoot["spec"]> = {}) => createShoot(kube, `shoot-${(count += 1)}`, spec);
const refOf = ({ namespace, name }: ShootRun) => refTo(Shoot, { namespace, name });
const read = async (run: ShootRun) => (await kube.read(refOf(run))) ?? expect.fail(`Shoot ${run.name} is gone`);
const annotate = (run: ShootRun, annotations: Record<string, string>) =>
  kube.patch(refOf(run), { metadata: { annotations } });
const lastError = { taskID: "etcd", description: "no", codes: [], lastUpdateTime: "2026-01-01T00:00:00Z" };
const progress = (status: Partial<OperationStatus> = {}): OperationStatus => ({
  state: "Processing",
  progress: 40,
  description: "etcd",
  lastErrors: [],
  ...status,
});

describe("a Shoot's status", () => {
  const begun = async () => {
    const run = await newShoot();
    await createShootStatus(kube).begin(run, undefined);
    return run;
  };

  it("says what begins, and the Shoot cannot go before our finalizer is taken away", async () => {
    const run = await begun();
    const { metadata, status } = await read(run);
    expect(metadata.finalizers).toEqual(["gardener"]);
    expect(status).toMatchObject({
      uid: run.uid,
      technicalID: run.technicalID,
      clusterIdentity: `${run.technicalID}-${run.uid}-${await readClusterIdentity(kube)}`,
      observedGeneration: 1,
      seedName: "seed-1",
      seeds: ["seed-1"],
      addressTTLSeconds: run.dnsTtl,
      lastOperation: { type: "Create", state: "Processing", progress: 0 },
    });
  });

  it("answers the request that it was begun for, and no other", async () => {
    const run = await newShoot();
    await annotate(run, { "gardener.cloud/operation": "reconcile", other: "stays" });
    await createShootStatus(kube).begin(run, "reconcile");
    expect((await read(run)).metadata.annotations).toEqual({ other: "stays" });

    await annotate(run, { "gardener.cloud/operation": "retry" });
    await createShootStatus(kube).begin(run, "reconcile");
    expect((await read(run)).metadata.annotations).toMatchObject({ "gardener.cloud/operation": "retry" });
    await createShootStatus(kube).acknowledge(run, "retry");
    await createShootStatus(kube).acknowledge(run, "retry"); // again, as an activity may be
    expect((await read(run)).metadata.annotations).toEqual({ other: "stays" });
  });

  it("leaves what is not answered of a request", async () => {
    const run = await newShoot();
    const request = "gardener.cloud/operation";
    await annotate(run, { [request]: "retry;reconcile" });
    await createShootStatus(kube).acknowledge(run, "retry;reconcile", ["retry"]);
    expect((await read(run)).metadata.annotations).toEqual({ [request]: "reconcile" });

    await annotate(run, { [request]: "reconcile;rotate-ca-start" });
    await createShootStatus(kube).begin(run, "reconcile;rotate-ca-start");
    expect((await read(run)).metadata.annotations).toEqual({ [request]: "rotate-ca-start" });
  });

  it("keeps the uid and the seeds of an earlier beginning", async () => {
    const run = await begun();
    await createShootStatus(kube).begin({ ...run, operation: "Reconcile", seedName: "seed-2" }, undefined);
    expect((await read(run)).status).toMatchObject({ uid: run.uid, seeds: ["seed-1", "seed-2"] });
    expect((await read(run)).metadata.finalizers).toEqual(["gardener"]);
  });

  it("names a seed until nothing is left of the Shoot there, and always the one that leads", async () => {
    const run = await begun();
    await createShootStatus(kube).begin({ ...run, operation: "Reconcile", seedName: "seed-2" }, undefined);
    await createShootStatus(kube).leave(run);
    expect((await read(run)).status?.seeds).toEqual(["seed-1", "seed-2"]); // its spec names seed-1 still
    await kube.patch(refOf(run), { spec: { seedName: "seed-2" } });
    await createShootStatus(kube).leave({ ...run, seedName: "seed-2" });
    expect((await read(run)).status?.seeds).toEqual(["seed-1", "seed-2"]);
    await createShootStatus(kube).leave(run);
    expect((await read(run)).status?.seeds).toEqual(["seed-2"]);
  });

  it("carries errors while there are any", async () => {
    const run = await begun();
    await createShootStatus(kube).write(run, progress({ state: "Error", lastErrors: [lastError] }));
    expect((await read(run)).status).toMatchObject({
      lastOperation: { state: "Error", progress: 40 },
      lastErrors: [lastError],
    });
    await createShootStatus(kube).write(run, progress());
    expect((await read(run)).status?.lastErrors).toBeUndefined();
    expect((await read(run)).status?.uid).toBe(run.uid);
  });

  it("says once why nothing can begin", async () => {
    const run = await newShoot();
    const problem = { message: "the Shoot has no seed", codes: ["ERR_CONFIGURATION_PROBLEM"] };
    await createShootStatus(kube).report(run, problem);
    const first = await read(run);
    expect(first.status).toMatchObject({
      lastOperation: { state: "Pending", description: problem.message },
      lastErrors: [problem].map(({ codes }) => ({ codes })),
    });
    await createShootStatus(kube).report(run, problem);
    expect((await read(run)).metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  it.each([
    ["Create", "Succeeded", "Reconcile"],
    ["Reconcile", "Succeeded", "Reconcile"],
    ["Restore", "Succeeded", "Reconcile"],
    ["Restore", "Error", "Restore"],
    ["Create", "Failed", "Create"],
    ["Migrate", "Succeeded", "Migrate"], // its Restore is still to come
  ] as const)("waits after a %s that is %s as %s", async (type, state, waiting) => {
    const run = await begun();
    const before = { type, state, progress: 1, description: "-", lastUpdateTime: "2026-01-01T00:00:00Z" };
    await kube.patch(refOf(run), { status: { lastOperation: before } }, { subresource: "status" });
    await createShootStatus(kube).report(run, { message: "Seed seed-1 has stopped all operations", codes: [] });
    expect((await read(run)).status?.lastOperation).toMatchObject({ type: waiting, state: "Pending" });
  });

  it("does not go back to its old seed after an emergency stop", async () => {
    const run = await begun();
    const before = { type: "Restore", state: "Succeeded", progress: 100, description: "-" };
    const leadership = { record: "r", seed: "seed-1", epoch: 2, leaseSeconds: 60, previousSeed: "seed-2", leaving: 1 };
    const status = { leadership, lastOperation: { ...before, lastUpdateTime: "2026-01-01T00:00:00Z" } };
    await kube.patch(refOf(run), { status }, { subresource: "status" });
    const ref = { namespace: run.namespace, name: run.name, uid: run.uid };
    await createShootStatus(kube).report(ref, { message: "Seed seed-1 has stopped all operations", codes: [] });
    expect((await readShootView(kube, run, periods))?.moving).toBeUndefined();
  });

  it("ends with Succeeded, the last state of the Shoot that a watch sees", async () => {
    const run = await begun();
    await kube.remove(refOf(run));
    const last: Shoot[] = [];
    const reflector = createReflector(kube, refOf(run), {
      fieldSelector: `metadata.name=${run.name}`,
      onEvent: ({ type, object }) => void (type === "deleted" && last.push(object)),
    });
    reflector.start();
    await reflector.synced();
    await createShootStatus(kube).release(run);
    await eventually(() =>
      expect(last[0]?.status?.lastOperation).toMatchObject({ type: "Delete", state: "Succeeded", progress: 100 }),
    );
    await reflector.stop();
    await createShootStatus(kube).release(run); // again: it is gone, and that is fine
    await createShootStatus(kube).write(run, progress());
  });

  it("lets go of the Shoot with our finalizer only", async () => {
    const run = await begun();
    await kube.patch(refOf(run), { metadata: { finalizers: ["a/b", "gardener", "c/d"] } });
    await createShootStatus(kube).release(run);
    expect((await read(run)).metadata.finalizers).toEqual(["a/b", "c/d"]);
  });

  it("takes away the tasks that were done, but not those asked for meanwhile", async () => {
    const run = { ...(await begun()), tasks: "deployInfrastructure" };
    const status = createShootStatus(kube);
    const succeeded = { ...progress(), state: "Succeeded" as const };
    await annotate(run, { "shoot.gardener.cloud/tasks": "deployInfrastructure,deployDNSRecordInternal" });
    await status.write(run, succeeded);
    expect((await read(run)).metadata.annotations).toHaveProperty(["shoot.gardener.cloud/tasks"]);
    await annotate(run, { "shoot.gardener.cloud/tasks": "deployInfrastructure" });
    await status.begin(run, undefined);
    await status.write(run, { ...succeeded, state: "Error" });
    expect((await read(run)).metadata.annotations).toHaveProperty(["shoot.gardener.cloud/tasks"]);
    await status.write(run, succeeded);
    expect((await read(run)).metadata.annotations ?? {}).not.toHaveProperty(["shoot.gardener.cloud/tasks"]);
  });

  describe("of an earlier migration", () => {
    const cancel = "perennial.dev/cancel-migration";
    const takeover = "perennial.dev/force-takeover";
    const said = { [cancel]: "true", [takeover]: '{"reason":"fire"}', other: "stays" };
    const leadership = { record: "r", seed: "seed-1", epoch: 1, leaseSeconds: 60 };
    const migration = { source: "seed-1", destination: "seed-2", takeover: false };
    const given = async (): Promise<ShootRun> => {
      const run = await begun();
      await kube.patch(refOf(run), { status: { leadership } }, { subresource: "status" });
      await annotate(run, said);
      return run;
    };
    const annotations = async (run: ShootRun) => (await read(run)).metadata.annotations;

    it("is forgotten once the Shoot is at rest", async () => {
      const run = { ...(await given()), operation: "Reconcile" as const };
      await createShootStatus(kube).begin(run, undefined);
      expect(await annotations(run)).toEqual(said);
      await createShootStatus(kube).write(run, progress({ state: "Succeeded" }));
      expect(await annotations(run)).toEqual({ other: "stays" });
    });

    it("stays while a migration that was asked for meanwhile needs it", async () => {
      const run = { ...(await given()), operation: "Reconcile" as const };
      await createShootStatus(kube).begin(run, undefined);
      await kube.patch(refOf(run), { spec: { seedName: "seed-2" } });
      await createShootStatus(kube).write(run, progress({ state: "Succeeded" }));
      expect(await annotations(run)).toEqual(said);
    });

    it("does not cancel a migration that begins later", async () => {
      const run = { ...(await given()), operation: "Migrate" as const, migration };
      await kube.patch(refOf(run), { spec: { seedName: "seed-2" } });
      await createShootStatus(kube).begin(run, undefined);
      expect(await annotations(run)).toEqual({ [takeover]: said[takeover], other: "stays" });
    });

    it("does not make a Shoot whole that was taken over in the middle of a Restore", async () => {
      const { migration: planned, ...run } = { ...(await begun()), migration: { ...migration, takeover: true } };
      const flipped = { ...leadership, seed: "seed-2", epoch: 2, previousSeed: "seed-1", leaving: 1 };
      const lastUpdateTime = "2026-01-01T00:00:00Z";
      const restore = { type: "Restore", state: "Error", progress: 1, description: "-", lastUpdateTime };
      const status = { leadership: flipped, lastOperation: restore, seedName: "seed-2" };
      await kube.patch(refOf(run), { status, spec: { seedName: "seed-3" } }, { subresource: "status" });
      await kube.patch(refOf(run), { spec: { seedName: "seed-3" } });
      const onwards = { ...planned, source: "seed-2", destination: "seed-3" };
      const taken = { ...run, operation: "Migrate" as const, seedName: "seed-2", epoch: 2, migration: onwards };
      await createShootStatus(kube).begin(taken, undefined);
      await createShootStatus(kube).begin(taken, undefined); // again, as an activity may be
      await kube.patch(refOf(run), { spec: { seedName: "seed-2" } });
      const arriving = { is: "arriving", source: "seed-1", destination: "seed-2", takeover: "none" };
      expect(moveOf(await read(run))).toMatchObject(arriving);
    });

    it("cancels the migration that it is about", async () => {
      const run = { ...(await given()), operation: "Migrate" as const, migration };
      await createShootStatus(kube).begin(run, undefined);
      expect(await annotations(run)).toEqual(said);
      expect((await readShootView(kube, run, periods))?.moving).toBe("Restore");
    });
  });

  it("is never written into a later Shoot of the same name", async () => {
    const run = await begun();
    await annotate(run, { "gardener.cloud/operation": "retry" });
    const before = (await read(run)).metadata.resourceVersion;
    const earlier = { ...run, uid: "5f0c5f5e-0000-4000-8000-000000000009" };
    const status = createShootStatus(kube);
    await status.begin(earlier, "retry");
    await status.write(earlier, progress());
    await status.report(earlier, { message: "no", codes: [] });
    await status.acknowledge(earlier, "retry");
    await status.release(earlier);
    expect((await read(run)).metadata.resourceVersion).toBe(before);
  });
});

describe("the view of a Shoot that a flow reads", () => {
  it("holds where the Shoot stands and the facts of the operation", async () => {
    const run = await newShoot();
    await annotate(run, { "gardener.cloud/operation": "reconcile", "shoot.gardener.cloud/ignore": "true" });
    expect(await readShootView(kube, run, periods)).toMatchObject({
      generation: 1,
      observedGeneration: 0,
      deleting: false,
      finalizer: false,
      initialised: false,
      ignored: true,
      request: "reconcile",
      run: {
        project: "dev",
        technicalID: run.technicalID,
        seedName: "seed-1",
        pools: ["worker"],
        workerless: false,
        hibernated: false,
        hasCredentials: true,
        hasInternalDomain: true,
        hasExternalDomain: true,
      },
    });
  });

  it("lets no Shoot begin that shares its domain with another, until that is deleted, and asks none again that has begun", async () => {
    const dns = { domain: "shared.example.com" };
    const [one, two] = [await newShoot({ dns }), await newShoot({ dns })];
    const problem = { codes: ["ERR_CONFIGURATION_PROBLEM"] };
    expect(await readShootView(kube, one, periods)).toMatchObject({
      problem: { ...problem, message: expect.stringContaining(`of Shoot ${two.namespace}/${two.name}`) as string },
    });
    expect(await readShootView(kube, two, periods)).toMatchObject({ problem });
    await kube.remove(refOf(two));
    expect(await readShootView(kube, one, periods)).toMatchObject({ run: { technicalID: one.technicalID } });
    await createShootStatus(kube).begin(one, undefined);
    const late = await newShoot({ dns });
    expect(await readShootView(kube, one, periods)).toMatchObject({ run: { technicalID: one.technicalID } });
    expect(await readShootView(kube, late, periods)).toMatchObject({ problem });
  });

  it("follows the Shoot through its life", async () => {
    const run = await newShoot({ hibernation: { enabled: true } });
    await createShootStatus(kube).begin(run, undefined);
    await kube.remove(refOf(run));
    expect(await readShootView(kube, run, periods)).toMatchObject({
      observedGeneration: 1,
      deleting: true,
      finalizer: true,
      initialised: true,
      lastOperation: { type: "Create", state: "Processing" },
      run: { hibernated: true, fallsAsleep: true },
    });
    await createShootStatus(kube).release(run);
    expect(await readShootView(kube, run, periods)).toBeNull();
  });

  it("is empty when a later Shoot has its name", async () => {
    const run = await newShoot();
    expect(await readShootView(kube, { ...run, uid: "another" }, periods)).toBeNull();
  });

  it.each<[string, string | null, string, string[]]>([
    ["names a seed that is missing", "nowhere", "Seed nowhere does not exist", ["ERR_CONFIGURATION_PROBLEM"]],
    ["has no seed, which is no error", null, "the Shoot has no seed yet: the scheduler gives it one", []],
  ])("says why nothing can begin when the Shoot %s", async (_, seedName, message, codes) => {
    const run = await newShoot();
    await kube.patch(refOf(run), { spec: { seedName } });
    const view = await readShootView(kube, run, periods);
    expect(view?.problem).toMatchObject({ message: expect.stringContaining(message), codes });
    expect(view?.run).toBeUndefined();
  });

  it("names a problem of the garden when the seed that holds the Shoot was taken away", async () => {
    const run = await newShoot();
    await kube.patch(refOf(run), { status: { seedName: "gone" } }, { subresource: "status" });
    expect((await readShootView(kube, run, periods))?.problem?.message).toBe(
      "Seed gone, which holds the Shoot, does not exist: create its object again under that name",
    );
  });
});

describe("applying extension objects", () => {
  const extensions = (client = kube) => createExtensions({ gardenClient: kube, seedClient: client, waits: notedWaits });
  const applyInfrastructure = async (run: ShootRun) => {
    const [target] = await extensions().apply(run, "Infrastructure", "infrastructure");
    const annotations = (await kube.read(infrastructureOf(run)))?.metadata.annotations ?? {};
    expect(target?.timestamp).toBe(annotations["gardener.cloud/timestamp"]);
    return {
      target,
      stamp: target?.timestamp ?? "",
      operation: annotations["gardener.cloud/operation"],
      wait: annotations[WAIT_ANNOTATION],
    };
  };

  it("asks the controller of a new Infrastructure to act, and says which wait it is for", async () => {
    const run = await newShoot();
    const { target, operation, wait } = await applyInfrastructure(run);
    expect(operation).toBe("reconcile");
    expect(wait).toBe("infrastructure/wait of 1");
    expect(target).toMatchObject({ until: "ready", severeAfter: 180_000, deadline: 600_000 });
  });

  it("asks again only when the last operation did not end well, or an operation is requested", async () => {
    const run = await newShoot();
    const first = await applyInfrastructure(run);
    await answer(kube, run);
    const second = await applyInfrastructure(run);
    expect(second).toMatchObject({ stamp: first.stamp, operation: undefined });

    await answer(kube, run, { state: "Error", lastError: { description: "no" } });
    const third = await applyInfrastructure(run);
    expect(third.operation).toBe("reconcile");
    expect(Date.parse(third.stamp)).toBeGreaterThan(Date.parse(second.stamp));

    await answer(kube, run);
    await annotate(run, { "shoot.gardener.cloud/tasks": "deployInfrastructure,other" });
    expect((await applyInfrastructure(run)).operation).toBe("reconcile");
  });

  it("asks again while the last request has no answer", async () => {
    const run = await newShoot();
    const first = await applyInfrastructure(run);
    await answer(kube, run, { lastUpdateTime: new Date(Date.parse(first.stamp) - 60_000).toISOString() });
    expect((await applyInfrastructure(run)).operation).toBe("reconcile");
  });

  it("gives a Worker a later operation every time", async () => {
    const run = await newShoot();
    const extension = (kind: string) => ({
      apiVersion: "extensions.gardener.cloud/v1alpha1",
      kind,
      namespace: run.technicalID,
    });
    await expect(extensions().apply(run, "Worker", "worker")).rejects.toThrow("has no user data yet");
    for (const { name } of await extensions().apply(run, "OperatingSystemConfig", "operatingSystemConfig")) {
      const status = { cloudConfig: { secretRef: { name: "user-data", namespace: run.technicalID } } };
      await kube.patch({ ...extension("OperatingSystemConfig"), name }, { status }, { subresource: "status" });
    }
    const stamps: number[] = [];
    for (let time = 0; time < 3; time += 1) {
      const [target] = await extensions().apply(run, "Worker", "worker");
      const worker = await kube.read({ ...extension("Worker"), name: run.name });
      expect(worker?.metadata.annotations).toMatchObject({
        "gardener.cloud/operation": "reconcile",
        "gardener.cloud/timestamp": target?.timestamp,
      });
      stamps.push(Date.parse(target?.timestamp ?? ""));
    }
    expect(stamps.toSorted((one, other) => one - other)).toEqual(stamps);
    expect(new Set(stamps).size).toBe(3);
  });

  it("confirms a removal, says which wait it is for, and is done when there is no object", async () => {
    const run = await newShoot();
    await applyInfrastructure(run);
    await kube.patch(infrastructureOf(run), { metadata: { finalizers: ["extensions.gardener.cloud/infrastructure"] } });
    const targets = await extensions().remove(run, "Infrastructure", "removal");
    expect(targets).toMatchObject([{ until: "gone", name: run.name }]);
    const { deletionTimestamp, annotations } = (await kube.read(infrastructureOf(run)))?.metadata ?? {};
    expect(deletionTimestamp).toBeDefined();
    expect(annotations).toMatchObject({
      "confirmation.gardener.cloud/deletion": "true",
      [WAIT_ANNOTATION]: "removal/wait of 1",
    });
    await kube.patch(infrastructureOf(run), { metadata: { finalizers: null } });
    expect(await extensions().remove(run, "Infrastructure", "removal")).toEqual([]);
  });

  it("succeeds when an object goes by itself while it is being removed", async () => {
    const run = await newShoot();
    await applyInfrastructure(run);
    const late: KubeClient = {
      ...kube,
      async list(type, o) {
        const found = await kube.list(type, o);
        await kube.remove(infrastructureOf(run));
        return found;
      },
    };
    expect(await extensions(late).remove(run, "Infrastructure", "removal")).toMatchObject([{ until: "gone" }]);
  });
});
