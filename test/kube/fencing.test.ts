import { beforeEach, describe, expect } from "vitest";
import { ROLE_LABEL } from "../../src/api/labels.ts";
import { fenced } from "../../src/activities/leadership/fenced-client.ts";
import { patchFinalizers, patchShootStatus } from "../../src/activities/shoot/patch.ts";
import type { OperationStatus } from "../../src/activities/index.ts";
import { createShootStatus } from "../../src/activities/shoot/status.ts";
import { Superseded } from "../../src/activities/superseded.ts";
import { EPOCH_ANNOTATION } from "../../src/api/annotations.ts";
import { Shoot, type KubeObject } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { ConfigMap, Namespace, refOf, refTo, type KubeClient, type ObjectRef } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";

let kube: KubeClient;
let count = 0;
let namespace: string;

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await applyGarden(kube);
});
beforeEach(async () => {
  namespace = `shoot--dev--fence-${(count += 1)}`;
  await flow(9).apply({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespace, labels: { [ROLE_LABEL]: "shoot" } },
  });
});

/** Epochs 9 and 10: as texts they would be the other way round. */
const flow = (epoch: number) => fenced(kube, { technicalID: namespace, epoch });
const configMap = (name: string, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace },
  data,
});
const inNamespace = (apiVersion: string, kind: string, name: string): ObjectRef => ({
  apiVersion,
  kind,
  namespace,
  name,
});
const namespaceRef = () => refTo(Namespace, { name: namespace });
const clusterOf = (name: string) => ({
  apiVersion: "extensions.gardener.cloud/v1alpha1",
  kind: "Cluster",
  metadata: { name },
  spec: { cloudProfile: {}, seed: {}, shoot: {} },
});
const infrastructure = (name: string): KubeObject => ({
  apiVersion: "extensions.gardener.cloud/v1alpha1",
  kind: "Infrastructure",
  metadata: { name, namespace },
  spec: { type: "local", region: "local", secretRef: { name: "cloudprovider", namespace } },
});

/** A later leader's flow begins here: from then on, what an earlier one writes comes too late. */
async function begin(epoch: number): Promise<void> {
  await flow(epoch).patch(namespaceRef(), {});
  await eventually(async () => {
    await expect(flow(epoch - 1).apply(configMap("probe"), { dryRun: true })).rejects.toThrow();
  });
}

describe("a write of a flow", () => {
  test("says under which epoch it was made, whichever way it is made", async () => {
    const client = flow(9);
    await client.apply(configMap("applied"));
    await client.create(configMap("created"));
    const replaced = await client.create(configMap("replaced"));
    await client.replace({ ...replaced, metadata: { ...replaced.metadata, annotations: {} } });
    await kube.create({ ...configMap("merged") }, { fieldManager: "somebody" });
    await client.patch(inNamespace("v1", "ConfigMap", "merged"), { metadata: { annotations: { a: "1" } } });
    await kube.create(configMap("patched"), { fieldManager: "somebody" });
    await client.patch(inNamespace("v1", "ConfigMap", "patched"), [{ op: "add", path: "/data", value: { a: "1" } }]);
    for (const object of await kube.list(ConfigMap, { namespace })) {
      expect(object.metadata.annotations, object.metadata.name).toMatchObject({ [EPOCH_ANNOTATION]: "9" });
    }
    expect(await kube.read(namespaceRef())).toMatchObject({ metadata: { annotations: { [EPOCH_ANNOTATION]: "9" } } });
  });

  test("says its epoch also of the Cluster and the BackupEntry, which are in no namespace", async () => {
    await flow(10).apply(clusterOf(namespace));
    await expect(flow(9).apply(clusterOf(namespace))).rejects.toThrow(Superseded);
    const spec = { type: "local", region: "local", bucketName: "b", secretRef: { name: "b", namespace: "garden" } };
    const entry = { ...clusterOf(`${namespace}--uid`), kind: "BackupEntry", spec };
    await flow(10).apply(entry);
    await expect(flow(9).patch(refOf(entry), { metadata: { annotations: { a: "1" } } })).rejects.toThrow(Superseded);
  });

  test("elsewhere is left alone", async () => {
    const elsewhere = { ...configMap("elsewhere"), metadata: { name: `elsewhere-${count}`, namespace: "default" } };
    const { metadata } = await flow(9).apply<KubeObject>(elsewhere);
    expect(metadata.annotations).toBeUndefined();
    await flow(9).patch(refOf(elsewhere), { data: { a: "1" } });
    await flow(9).remove(refOf(elsewhere));
    expect(await kube.read(refOf(elsewhere))).toBeUndefined();
  });

  test("of the present epoch is taken, also for what an earlier epoch has written", async () => {
    await flow(9).apply(configMap("config", { a: "1" }));
    await begin(10);
    const { data, metadata } = await flow(10).apply(configMap("config", { a: "2" }));
    expect(data).toEqual({ a: "2" });
    expect(metadata.annotations).toEqual({ [EPOCH_ANNOTATION]: "10" });
  });
});

describe("epochs are numbers: 10 comes after 9", () => {
  test("where flows write", async () => {
    await flow(9).apply(configMap("config"));
    await begin(10);
    await flow(10).apply(configMap("config", { a: "10" }));
    await expect(flow(9).apply(configMap("config"))).rejects.toThrow(
      /epoch 10 has begun here, and this acts for epoch 9/,
    );
    await flow(11).apply(configMap("config", { a: "11" }));
  });

  test("where flows delete", async () => {
    await flow(9).apply(configMap("config"));
    await begin(10);
    const late = kube.remove(inNamespace("v1", "ConfigMap", "config"));
    await expect(late).rejects.toThrow(/epoch 10 has begun here, and this was written under epoch 9/);
    await flow(10).remove(inNamespace("v1", "ConfigMap", "config"));
  });

  test("where a fence, and a Cluster, go by them", async () => {
    for (const epoch of [9, 10]) {
      await flow(epoch).patch(namespaceRef(), {});
      await flow(epoch).apply(clusterOf(namespace));
    }
    await expect(flow(9).patch(namespaceRef(), {})).rejects.toThrow(
      /epoch 10 has begun here, and this acts for epoch 9/,
    );
    await expect(flow(9).apply(clusterOf(namespace))).rejects.toThrow(Superseded);
  });
});

describe("an activity that was paused until a later epoch had begun", () => {
  const late: [string, (client: KubeClient, ref: ObjectRef) => Promise<unknown>][] = [
    ["apply", (client) => client.apply(configMap("config", { a: "late" }))],
    ["create", (client) => client.create(configMap("new"))],
    ["patch by merging", (client, ref) => client.patch(ref, { data: { a: "late" } })],
    ["patch by operations", (client, ref) => client.patch(ref, [{ op: "add", path: "/data/a", value: "late" }])],
    ["remove", (client, ref) => client.remove(ref)],
    ["remove all", (client) => client.removeAll(ConfigMap, { namespace })],
    ["remove the namespace", (client) => client.remove(namespaceRef())],
    ["annotate the namespace", (client) => client.patch(namespaceRef(), { metadata: { annotations: { a: "late" } } })],
  ];
  test.each(late)("cannot %s", async (_name, write) => {
    await flow(9).apply(configMap("config", { a: "1" }));
    await begin(10);
    const before = await kube.read(inNamespace("v1", "ConfigMap", "config"));
    const error = await write(flow(9), inNamespace("v1", "ConfigMap", "config")).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(Superseded);
    expect((error as Superseded).retryable).toBe(false);
    expect((error as Error).message).toMatch(/epoch 10 has begun here, and this (acts for|was written under) epoch 9$/);
    expect(await kube.read(inNamespace("v1", "ConfigMap", "config"))).toEqual(before);
    expect(await kube.read(inNamespace("v1", "ConfigMap", "new"))).toBeUndefined();
    expect((await kube.read(namespaceRef()))?.metadata.deletionTimestamp).toBeUndefined();
  });

  test("cannot replace what it has read", async () => {
    const read = await flow(9).apply(configMap("config"));
    await begin(10);
    await expect(flow(9).replace({ ...read, data: { a: "late" } })).rejects.toThrow(Superseded);
  });

  test("cannot write a status", async () => {
    const object = await flow(9).apply(infrastructure("infra"));
    await begin(10);
    const ref = refOf(object);
    const status = { state: { late: true } };
    await expect(flow(9).patch(ref, { status }, { subresource: "status" })).rejects.toThrow(Superseded);
    await expect(flow(9).applyStatus({ ...infrastructure("infra"), status })).rejects.toThrow(Superseded);
    await expect(flow(9).replaceStatus({ ...object, status })).rejects.toThrow(Superseded);
    // Paused between its two writes: the object's own epoch is looked at again.
    await expect(kube.patch(ref, { status }, { subresource: "status" })).rejects.toThrow(/epoch 10 has begun here/);
    expect((await kube.read(ref))?.["status"]).toBeUndefined();
  });

  test("cannot delete what it has written its epoch into", async () => {
    const { metadata } = await flow(9).apply(infrastructure("infra"));
    await begin(10);
    const { uid = "", resourceVersion = "" } = metadata;
    await expect(kube.remove(refOf(infrastructure("infra")), { uid, resourceVersion })).rejects.toThrow(
      /epoch 10 has begun here, and this was written under epoch 9/,
    );
  });

  test("cannot delete many at once that an earlier epoch has written", async () => {
    await flow(9).apply(configMap("config"));
    await begin(10);
    const many = kube.removeAll(ConfigMap, { namespace });
    await expect(many).rejects.toThrow(/epoch 10 has begun here, and this was written under epoch 9/);
  });

  test("cannot scale: a scale says nothing of the epoch", async () => {
    await kube.create(deployment("api"), { fieldManager: "somebody" });
    const ref = inNamespace("apps/v1", "Deployment", "api");
    await expect(kube.patch(ref, { spec: { replicas: 5 } }, { subresource: "scale" })).rejects.toThrow(/epoch 9/);
    expect(await kube.read(ref)).toMatchObject({ spec: { replicas: 1 } });
  });
});

describe("a removal", () => {
  test("takes along what changes while it is under way, and no other object of the name", async () => {
    await flow(9).apply(configMap("busy"));
    const ref = inNamespace("v1", "ConfigMap", "busy");
    let changes = 0;
    const busy: KubeClient = {
      ...kube,
      async remove(target, o) {
        if ((changes += 1) <= 3)
          await kube.patch(target, { data: { changes: String(changes) } }, { fieldManager: "x" });
        await kube.remove(target, o);
      },
    };
    await fenced(busy, { technicalID: namespace, epoch: 9 }).remove(ref);
    expect(changes).toBe(4);
    expect(await kube.read(ref)).toBeUndefined();
    await flow(9).remove(ref); // gone already: fine

    await flow(9).apply(configMap("busy"));
    await expect(flow(9).remove(ref, { uid: "another" })).rejects.toMatchObject({ status: 409 });
    await expect(flow(9).remove(ref, { resourceVersion: "1" })).rejects.toMatchObject({ status: 409 });
    expect(await kube.read(ref)).toBeDefined();
  });

  test("of all takes those that are selected", async () => {
    await flow(9).apply({ ...configMap("one"), metadata: { ...configMap("one").metadata, labels: { a: "1" } } });
    await flow(9).apply(configMap("other"));
    await flow(9).removeAll(ConfigMap, { namespace, labelSelector: "a=1" });
    const left = await kube.list(ConfigMap, { namespace });
    expect(left.map(({ metadata }) => metadata.name)).toEqual(["other"]);
  });
});

describe("the fence", () => {
  test("does not come down, whichever client tries", async () => {
    await begin(10);
    const lower = { metadata: { annotations: { [EPOCH_ANNOTATION]: "9" } } };
    const none = { metadata: { annotations: { [EPOCH_ANNOTATION]: null } } };
    for (const change of [lower, none])
      for (const how of [{}, { subresource: "status" } as const])
        // takes annotations, too
        await expect(kube.patch(namespaceRef(), change, { fieldManager: "kubectl", ...how })).rejects.toThrow(
          /epoch 10 has begun/,
        );
  });

  test("does not hold for extension controllers, nor for any client in other namespaces", async () => {
    await begin(10);
    await kube.create(configMap("theirs"), { fieldManager: "extension" });
    await kube.patch(inNamespace("v1", "ConfigMap", "theirs"), { data: { a: "1" } }, { fieldManager: "extension" });
    await kube.remove(inNamespace("v1", "ConfigMap", "theirs"));
    await kube.create(configMap("theirs"), { fieldManager: "extension" });
    await kube.removeAll(ConfigMap, { namespace }); // one request for all
    expect(await kube.list(ConfigMap, { namespace })).toEqual([]);
    await kube.apply({ ...configMap("ours"), metadata: { name: "ours", namespace: "default" } });
  });

  test("lets nothing through whose epoch is no number", async () => {
    const broken = { ...configMap("broken").metadata, annotations: { [EPOCH_ANNOTATION]: "soon" } };
    await expect(kube.apply({ ...configMap("broken"), metadata: broken })).rejects.toThrow(/perennial-fence-writes/);
  });

  test.each(["soon", "9223372036854775807", "9".repeat(30)])(
    "of %s, which is no epoch, takes no write of a flow and can be written anew",
    async (epoch) => {
      namespace = `${namespace}-broken`;
      const metadata = {
        name: namespace,
        labels: { [ROLE_LABEL]: "shoot" },
        annotations: { [EPOCH_ANNOTATION]: epoch },
      };
      await kube.create({ apiVersion: "v1", kind: "Namespace", metadata }, { fieldManager: "kubectl" });
      await eventually(() => expect(flow(9).apply(configMap("config"))).rejects.toThrow(Superseded));
      await flow(9).patch(namespaceRef(), {});
      await eventually(() => flow(9).apply(configMap("config")));
      const written = { metadata: { annotations: { [EPOCH_ANNOTATION]: epoch } } };
      await expect(kube.patch(namespaceRef(), written, { fieldManager: "kubectl" })).rejects.toThrow(
        /epoch 9 has begun/,
      );
    },
  );

  test("lets a flow delete what bears no epoch once it has written its own there", async () => {
    const annotations = { [EPOCH_ANNOTATION]: "soon" };
    await kube.create(
      { ...configMap("broken"), metadata: { ...configMap("broken").metadata, annotations } },
      { fieldManager: "extension" },
    );
    const ref = inNamespace("v1", "ConfigMap", "broken");
    await expect(kube.remove(ref)).rejects.toThrow(/epoch 9 has begun here, and this was written under epoch 0/);
    await flow(9).remove(ref);
    expect(await kube.read(ref)).toBeUndefined();
  });
});

describe("in the garden", () => {
  const shootRef = ({ namespace, name }: ShootRun) => refTo(Shoot, { namespace, name });
  const statusOf = async (run: ShootRun) => (await kube.read(shootRef(run)))?.status;
  const lead = (run: ShootRun, seed: string, epoch: number, type = "Migrate") => {
    const leadership = { record: "r.example.com", seed, epoch, leaseSeconds: 60 };
    const lastUpdateTime = "2026-01-01T00:00:00Z";
    const lastOperation = { type, state: "Processing", progress: 1, description: "-", lastUpdateTime };
    return kube.patch(shootRef(run), { status: { leadership, lastOperation } }, { subresource: "status" });
  };

  test("the epoch of a ShootState only grows", async () => {
    const state = (epoch: string) => ({
      apiVersion: "core.gardener.cloud/v1beta1",
      kind: "ShootState",
      metadata: { name: "state", namespace: "default", annotations: { [EPOCH_ANNOTATION]: epoch } },
      spec: {},
    });
    await kube.apply(state("2"));
    await kube.apply(state("2"));
    await expect(kube.apply(state("1"))).rejects.toThrow(/epoch 2 has begun, and this acts for epoch 1/);
    await kube.apply(state("9"));
    await kube.apply(state("10"));
    await expect(kube.apply(state("9"))).rejects.toThrow(/epoch 10 has begun, and this acts for epoch 9/);
  });

  test.each(["abc", "9223372036854775807", ""])(
    "a client is not kept out by an epoch of %j, which is none",
    async (epoch) => {
      const metadata = { name: `broken-${count}`, namespace: "default", annotations: { [EPOCH_ANNOTATION]: epoch } };
      const broken = { apiVersion: "core.gardener.cloud/v1beta1", kind: "ShootState", metadata, spec: {} };
      await kube.create(broken);
      const kept = { metadata: { finalizers: ["gardener"], annotations: { [EPOCH_ANNOTATION]: "2" } } };
      await kube.patch(refOf(broken), kept);
      await expect(kube.patch(refOf(broken), { metadata })).rejects.toThrow(
        /epoch 2 has begun, and this acts for epoch 0/,
      );
      await kube.patch(refOf(broken), { metadata: { finalizers: null } });
      await kube.remove(refOf(broken));
    },
  );

  test("no client goes back to an earlier leader, nor makes another one without a new epoch", async () => {
    const run = await createShoot(kube, `leader-${count}`);
    await lead(run, "seed-1", 2);
    await expect(lead(run, "seed-2", 1)).rejects.toThrow(/epoch 2 has begun, and this would go back to 1/);
    await expect(lead(run, "seed-2", 2)).rejects.toThrow(/Seed seed-1 leads in epoch 2: another needs a new epoch/);
    const none = { status: { leadership: null } };
    await expect(kube.patch(shootRef(run), none, { subresource: "status" })).rejects.toThrow(/would go back to 0/);
    await lead(run, "seed-2", 9);
    await lead(run, "seed-1", 10);
    await expect(lead(run, "seed-2", 9)).rejects.toThrow(/epoch 10 has begun, and this would go back to 9/);
  });

  test("a flow that comes late writes nothing into its Shoot", async () => {
    const run = await createShoot(kube, `late-${count}`);
    await lead(run, "seed-1", 1, "Reconcile");
    await patchShootStatus(kube, run, { hibernated: false });
    await lead(run, "seed-2", 2, "Restore");
    const before = await kube.read(shootRef(run));
    await expect(patchShootStatus(kube, run, { hibernated: true })).rejects.toThrow(Superseded);
    await expect(patchFinalizers(kube, run, () => ["gardener"])).rejects.toThrow(
      /in epoch 1: seed-2 leads in epoch 2$/,
    );
    expect(await kube.read(shootRef(run))).toEqual(before);
    await patchShootStatus(kube, { ...run, epoch: 2 }, { hibernated: true });
    expect(await statusOf(run)).toMatchObject({ hibernated: true });
  });

  test("a seed is forgotten however late it is done with", async () => {
    const run = await createShoot(kube, `left-${count}`, { seedName: "seed-3" });
    await lead(run, "seed-3", 3, "Restore");
    const status = { seedName: "seed-3", seeds: ["seed-1", "seed-2", "seed-3"] };
    await kube.patch(shootRef(run), { status }, { subresource: "status" });
    await createShootStatus(kube).leave(run);
    await createShootStatus(kube).leave({ ...run, seedName: "seed-3", epoch: 3 });
    expect(await statusOf(run)).toMatchObject({ seeds: ["seed-2", "seed-3"] });
  });

  test("a seed is not forgotten by a late flow once the Shoot is to go there again", async () => {
    const run = await createShoot(kube, `back-${count}`, { seedName: "seed-1" });
    await lead(run, "seed-2", 2, "Migrate");
    const status = { seedName: "seed-2", seeds: ["seed-2", "seed-1"] };
    await kube.patch(shootRef(run), { status }, { subresource: "status" });
    await createShootStatus(kube).leave(run);
    expect(await statusOf(run)).toMatchObject({ seeds: ["seed-2", "seed-1"] });
  });

  test("a migration says how it ended, until the next operation has begun", async () => {
    const run = await newMigration("ended");
    await lead(run, "seed-2", 2, "Migrate");
    await createShootStatus(kube).write(run, said({ progress: 99 }));
    expect(await statusOf(run)).toMatchObject({ lastOperation: { type: "Migrate", progress: 99 } });
    await expect(createShootStatus(kube).begin(run, undefined)).rejects.toThrow(Superseded);
    expect(await statusOf(run)).toMatchObject({ lastOperation: { type: "Migrate", progress: 99 } });
    await lead(run, "seed-2", 2, "Restore");
    await expect(createShootStatus(kube).write(run, said({ progress: 99 }))).rejects.toThrow(Superseded);
  });

  test("a migration that begins once more while it flips does not take its flip back", async () => {
    const run = await newMigration("asleep");
    await lead(run, "seed-1", 1, "Reconcile");
    const flipped = { leadership: { seed: "seed-2", epoch: 2, previousSeed: "seed-1", leaving: 1 } };
    const others = { lastOperation: { type: "Migrate" }, seedName: "seed-2", seeds: ["seed-1", "seed-2"] };
    const asleep = whilePatched(() => patchStatus(run, { ...flipped, ...others }));
    await expect(createShootStatus(asleep).begin(run, undefined)).rejects.toThrow(Superseded);
    expect(await statusOf(run)).toMatchObject({ ...flipped, ...others });
  });

  test("a Restore that has succeeded is neither begun again nor continued by an activity that slept through it", async () => {
    const migration = { source: "seed-1", destination: "seed-2", takeover: false };
    const run = {
      ...(await newMigration("over")),
      operation: "Restore" as const,
      epoch: 2,
      seedName: "seed-2",
      migration,
    };
    const status = createShootStatus(kube);
    await lead(run, "seed-2", 2, "Migrate");
    await status.begin(run, undefined);
    await status.write(run, said({ state: "Succeeded" }));
    await status.begin(run, undefined);
    await status.write(run, said({ progress: 60 }));
    expect(await statusOf(run)).toMatchObject({ lastOperation: { type: "Restore", state: "Succeeded" } });
    await status.begin({ ...run, operation: "Reconcile" }, undefined);
    await status.begin(run, undefined);
    await status.write(run, said({ progress: 60 }));
    expect(await statusOf(run)).toMatchObject({ lastOperation: { type: "Reconcile", progress: 0 } });
  });

  test("a late status of one operation does not replace that of the next", async () => {
    const run = { ...(await newMigration("between")), operation: "Restore" as const };
    await lead(run, "seed-1", 1, "Restore");
    const asleep = whilePatched(() => patchStatus(run, { lastOperation: { type: "Reconcile", state: "Succeeded" } }));
    await createShootStatus(asleep).write(run, said({ progress: 60 }));
    expect(await statusOf(run)).toMatchObject({ lastOperation: { type: "Reconcile", state: "Succeeded" } });
  });

  const newMigration = async (name: string): Promise<ShootRun> => {
    const migration = { source: "seed-1", destination: "seed-2", takeover: false };
    return { ...(await createShoot(kube, `${name}-${count}`)), operation: "Migrate", migration };
  };
  const patchStatus = (run: ShootRun, status: object) =>
    kube.patch(shootRef(run), { status }, { subresource: "status" });
  const said = (change: Partial<OperationStatus>): OperationStatus => ({
    state: "Processing",
    progress: 50,
    description: "-",
    lastErrors: [],
    ...change,
  });
  /** A client whose first write of a status comes after this. */
  const whilePatched = (before: () => Promise<unknown>): KubeClient => {
    let slept = false;
    return {
      ...kube,
      async patch(ref, patch, options) {
        if (!slept && options?.subresource === "status") {
          slept = true;
          await before();
        }
        return kube.patch(ref, patch, options);
      },
    };
  };
});

const deployment = (name: string) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "main" }] } },
  },
});
