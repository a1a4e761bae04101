import { afterEach, beforeEach, describe, expect, vi } from "vitest";
import { Infrastructure, type Cluster } from "../../src/api/index.ts";
import {
  createExtensionController,
  createHeartbeat,
  ExtensionError,
  type Actuator,
  type ExtensionController,
  type ExtensionControllerOptions,
  openGuard,
  OperationRefused,
  type Guard,
} from "../../src/extension/index.ts";
import { Lease, refTo, type MergePatch } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";

const log = createLogger({ name: "test", level: "silent" });
const finalizer = "extensions.gardener.cloud/infrastructure";
const operation = (value: string) => ({
  annotations: { "gardener.cloud/operation": value, "gardener.cloud/timestamp": new Date().toISOString() },
});

let plane: ControlPlane;
let namespace: string;
let controller: ExtensionController | undefined;
let count = 0;

test.beforeAll(({ cluster }) => void (plane = cluster));
beforeEach(async () => {
  namespace = `shoot--dev--i${++count}`;
  await plane.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await applyCluster({});
});
afterEach(() => controller?.stop());

describe("an extension controller", () => {
  test("reconciles on request and reports providerStatus, state and fields of the kind", async () => {
    run({
      reconcile: async () => ({
        providerStatus: { vpc: 1 },
        state: { ids: ["a"] },
        status: { nodesCIDR: "10.0.0.0/16" },
      }),
    });
    await create(operation("reconcile"));
    const object = await until((o) => o?.status?.lastOperation?.state === "Succeeded");
    expect(object?.metadata.annotations).not.toHaveProperty("gardener.cloud/operation");
    expect(object?.metadata.annotations).toHaveProperty("gardener.cloud/timestamp");
    expect(object?.metadata.finalizers).toEqual([finalizer]);
    expect(object?.status).toMatchObject({
      observedGeneration: object?.metadata.generation,
      lastOperation: { type: "Create", progress: 100 },
      providerStatus: { vpc: 1 },
      state: { ids: ["a"] },
      nodesCIDR: "10.0.0.0/16",
    });
  });

  test("shows Processing without the new generation while it works", async () => {
    const release = Promise.withResolvers<void>();
    run({ reconcile: () => release.promise });
    await create(operation("reconcile"));
    const object = await until((o) => o?.status?.lastOperation?.state === "Processing" && !requested(o));
    expect(object?.status?.observedGeneration).toBeUndefined();
    release.resolve();
    await until((o) => o?.status?.lastOperation?.state === "Succeeded");
  });

  test("ignores a new generation without a request", async () => {
    const seen: string[] = [];
    run({ reconcile: async ({ spec }) => void seen.push(spec.region) });
    await create(operation("reconcile"));
    await until((o) => o?.status?.lastOperation?.state === "Succeeded");
    await patch({ spec: { region: "two" } });
    await patch({ spec: { region: "three" }, metadata: operation("reconcile") });
    await until((o) => o?.status?.observedGeneration === 3);
    expect(seen).toEqual(["one", "three"]);
  });

  test("reports an error with its codes and tries again until it succeeds", async () => {
    let attempts = 0;
    run({
      reconcile: async () => {
        if (++attempts < 3) throw new ExtensionError("no quota", ["ERR_INFRA_QUOTA_EXCEEDED"]);
      },
    });
    await create(operation("reconcile"));
    const failed = await until((o) => o?.status?.lastError !== undefined);
    expect(failed?.status).toMatchObject({
      observedGeneration: 1,
      lastOperation: { state: "Error", progress: 50 },
      lastError: { description: "Error creating Infrastructure: no quota", codes: ["ERR_INFRA_QUOTA_EXCEEDED"] },
    });
    const done = await until((o) => o?.status?.lastOperation?.state === "Succeeded");
    expect(done?.status?.lastError).toBeUndefined();
    expect(attempts).toBe(3);
  });

  test.for([
    ["by force once the Shoot is being deleted so", { deletionTimestamp: "2026-11-22T10:00:00Z" }, "force"],
    ["as ever while the Shoot is not being deleted at all", {}, "delete"],
  ] as const)("deletes %s", async ([, deletion, how]) => {
    const annotations = { "confirmation.gardener.cloud/force-deletion": "true" };
    await applyCluster({ metadata: { name: "i", namespace: "garden-dev", annotations, ...deletion } });
    const done: string[] = [];
    run({ delete: async () => void done.push("delete"), forceDelete: async () => void done.push("force") });
    await create(operation("reconcile"));
    await until((o) => o?.status?.lastOperation?.state === "Succeeded");
    await remove();
    await until((o) => o === undefined);
    expect(done).toEqual([how]);
  });

  test("deletes what was made before it lets the object go", async () => {
    const world = new Set<string>();
    run({
      reconcile: async (o) => void world.add(o.metadata.name),
      delete: async (o) => void world.delete(o.metadata.name),
    });
    await create(operation("reconcile"));
    await until((o) => o?.status?.lastOperation?.state === "Succeeded");
    expect(world).toEqual(new Set(["i"]));
    await remove();
    await until((o) => o === undefined);
    expect(world).toEqual(new Set());
  });

  test("migrates, then lets the object go without deleting anything", async () => {
    const calls: string[] = [];
    run({ reconcile: async () => void calls.push("reconcile"), migrate: async () => void calls.push("migrate") });
    await create(operation("reconcile"));
    await until((o) => o?.status?.lastOperation?.state === "Succeeded");
    await patch({ metadata: operation("migrate") });
    const migrated = await until((o) => o?.status?.lastOperation?.type === "Migrate" && !requested(o));
    expect(migrated?.status?.lastOperation).toMatchObject({ state: "Succeeded", progress: 100 });
    expect(migrated?.metadata.finalizers ?? []).toEqual([]);
    await patch({ metadata: operation("reconcile") });
    await remove();
    await until((o) => o === undefined);
    expect(calls).toEqual(["reconcile", "migrate"]);
  });

  test("restores what was called back while it began to migrate", async () => {
    const calls: string[] = [];
    const guard: Guard = {
      async enter(about) {
        if (about.type === "Migrate") await patch({ metadata: operation("restore") });
        return await openGuard.enter(about);
      },
    };
    run({ migrate: async () => void calls.push("migrate"), restore: async () => void calls.push("restore") }, guard);
    await create(operation("migrate"));
    const object = await until((o) => o?.status?.lastOperation?.type === "Restore" && !requested(o));
    await until((o) => o?.status?.lastOperation?.state === "Succeeded");
    expect(object?.metadata.finalizers).toEqual([finalizer]);
    expect(calls).toEqual(["migrate", "restore"]);
  });

  test("waits for its state, then restores from it", async () => {
    const restored: unknown[] = [];
    run({ restore: async (o) => void restored.push(o.status?.state) });
    await create(operation("wait-for-state"));
    await plane.client.patch(ref(), { status: { state: { ids: ["a"] } } }, { subresource: "status" });
    expect(restored).toEqual([]);
    await patch({ metadata: operation("restore") });
    const object = await until((o) => o?.status?.lastOperation?.state === "Succeeded");
    expect(object?.status?.lastOperation?.type).toBe("Restore");
    expect(requested(object)).toBe(false);
    expect(restored).toEqual([{ ids: ["a"] }]);
  });

  test("leaves the objects of a failed Shoot alone", async () => {
    let calls = 0;
    await applyCluster({ status: { lastOperation: lastOperation("Failed") } });
    run({ reconcile: async () => void calls++ });
    await create(operation("reconcile"));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(calls).toBe(0);
    await applyCluster({ status: { lastOperation: lastOperation("Processing") } });
    await patch({ metadata: operation("reconcile") });
    await until((o) => o?.status?.lastOperation?.state === "Succeeded");
  });

  test("handles only its own type and class", async () => {
    let calls = 0;
    run({ reconcile: async () => void calls++ });
    await create(operation("reconcile"), { type: "other" });
    await create(operation("reconcile"), { class: "seed" }, "seed-class");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(calls).toBe(0);
  });

  test("takes up what a killed process left unfinished, without being asked again", async () => {
    const cutOff = Promise.withResolvers<void>();
    const first = run({ reconcile: (_o, _c, { signal }) => untilAborted(signal, cutOff) });
    await create(operation("reconcile"));
    await cutOff.promise;
    await first.stop();
    expect((await read())?.status?.lastOperation?.state).toBe("Processing");
    run({});
    await until((o) => o?.status?.lastOperation?.state === "Succeeded");
  });

  test("writes nothing while its guard refuses, and stops when the permit ends", async () => {
    const permit = new AbortController();
    let allowed = false;
    const guard: Guard = {
      async enter() {
        if (!allowed) throw new Error("not the leader");
        return { signal: permit.signal, check: () => permit.signal.throwIfAborted(), release: () => undefined };
      },
    };
    const working = Promise.withResolvers<void>();
    run({ reconcile: (_o, _c, { signal }) => untilAborted(signal, working) }, guard);
    const created = await create(operation("reconcile"));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await read())?.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    allowed = true;
    await working.promise;
    allowed = false;
    permit.abort();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await read())?.status?.lastOperation?.state).toBe("Processing");
  });

  test("keeps what an actuator has made when the permit has ended meanwhile, and writes nothing else", async () => {
    const permit = new AbortController();
    const guard: Guard = {
      async enter() {
        return { signal: permit.signal, check: () => permit.signal.throwIfAborted(), release: () => undefined };
      },
    };
    const made = vi.fn();
    run(
      {
        async reconcile(_o, _c, { saveStatus, client }) {
          if (made.mock.calls.length > 0) throw new Error("acts without leave");
          permit.abort(new OperationRefused("another seed leads"));
          expect(() => client.read(refTo(Infrastructure, { namespace, name: "x" }))).toThrow("another seed leads");
          await saveStatus({ state: { machines: ["a"] } });
          made();
          return { state: { machines: ["a", "b"] }, providerStatus: { apiVersion: "x/v1", kind: "X" } };
        },
      },
      guard,
    );
    await create(operation("reconcile"));
    const kept = await until((o) => (o?.status?.state as { machines?: string[] } | undefined)?.machines?.length === 2);
    expect(kept?.status?.lastOperation?.state).toBe("Processing");
    expect(kept?.status?.observedGeneration).toBeUndefined();
  });

  test("saves nothing into a later object of the same name, however late it comes", async () => {
    const saved = Promise.withResolvers<undefined>();
    let earlier = true;
    run({
      async reconcile(o, _c, { saveStatus }) {
        if (!earlier) return undefined;
        earlier = false;
        const ref = refTo(Infrastructure, { namespace, name: o.metadata.name });
        await plane.client.patch(ref, { metadata: { finalizers: null } });
        await plane.client.remove(ref);
        const { apiVersion, kind, spec, status } = o;
        const { name, annotations } = o.metadata;
        await plane.client.create({
          apiVersion,
          kind,
          metadata: { namespace, name, annotations },
          spec,
        });
        await plane.client.patch(ref, { status: { lastOperation: status?.lastOperation } }, { subresource: "status" });
        await saveStatus({ state: { machines: ["of the earlier object"] } }).finally(() => saved.resolve(undefined));
        return undefined;
      },
    });
    await create(operation("reconcile"));
    await saved.promise;
    expect((await read())?.status?.state).toBeUndefined();
  });

  test("comes back without being asked when the actuator wants it", async () => {
    let calls = 0;
    run({ reconcile: async () => (++calls < 3 ? { requeueAfter: 50 } : {}) });
    await create(operation("reconcile"));
    await eventually(() => expect(calls).toBe(3));
  });

  test("comes back for what its guard refused when it came back", async () => {
    let calls = 0;
    let refusals = 0;
    const guard: Guard = {
      async enter(operation) {
        if (calls > 0 && ++refusals < 3) throw new OperationRefused("not confirmed");
        return await openGuard.enter(operation);
      },
    };
    run({ reconcile: async () => (++calls < 2 ? { requeueAfter: 50 } : {}) }, guard);
    await create(operation("reconcile"));
    await eventually(() => expect(calls).toBe(2));
    expect(refusals).toBe(3);
  });

  test("keeps state that an actuator saves before it fails", async () => {
    run({
      async reconcile(_o, _c, context) {
        await context.saveStatus({ state: { id: "machine-1" } });
        throw new Error("crash");
      },
    });
    await create(operation("reconcile"));
    const failed = await until((o) => o?.status?.lastError !== undefined);
    expect(failed?.status?.state).toEqual({ id: "machine-1" });
  });

  test("begins no more operations than its rate limit allows, retries among them", async () => {
    const begun: number[] = [];
    const rateLimit = { perSecond: 2, burst: 2 };
    run({ reconcile: async () => Promise.reject(new Error(`attempt ${begun.push(Date.now())}`)) }, undefined, {
      rateLimit,
    });
    const startedAt = Date.now(); // what comes between a leave and the attempt may take the first one longer than the seventh
    await Promise.all(["a", "b", "c", "d"].map((name) => create(operation("reconcile"), {}, name)));
    await eventually(() => expect(begun.length).toBeGreaterThan(6));
    expect((begun[6] ?? 0) - startedAt).toBeGreaterThan(2_400); // two at once, five more at two a second
  });

  test.for([
    ["garden", ["garden-class"]],
    [
      ["seed", "shoot"],
      ["plain", "seed-class", "shoot-class"],
    ],
  ] as const)(
    "handles the objects of class %s that it was made for, without a Cluster but for Shoots",
    async ([asked, names]) => {
      const seen = new Map<string, boolean>();
      const note = async ({ metadata }: Infrastructure, cluster: Cluster | undefined) =>
        void seen.set(metadata.name, cluster !== undefined);
      run({ reconcile: note }, undefined, { class: asked });
      await create(operation("reconcile"), {}, "plain");
      for (const each of ["garden", "seed", "shoot"])
        await create(operation("reconcile"), { class: each }, `${each}-class`);
      await eventually(() => expect([...seen.keys()].sort()).toEqual(names));
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect([...seen.keys()].sort()).toEqual(names);
      for (const [name, hasCluster] of seen) expect(hasCluster, name).toBe(["plain", "shoot-class"].includes(name));
    },
  );

  test("replaces state as a whole, also what it has saved in between", async () => {
    run({
      async reconcile(_o, _c, context) {
        await context.saveStatus({ state: { machines: { a: 1 } } });
        await context.saveStatus({ state: { machines: { b: 1 } } });
        expect((await read())?.status?.state).toEqual({ machines: { b: 1 } });
        return { state: { machines: { c: 1 } } };
      },
    });
    await create(operation("reconcile"));
    const done = await until((o) => o?.status?.lastOperation?.state === "Succeeded");
    expect(done?.status?.state).toEqual({ machines: { c: 1 } });
  });
});

test("the heartbeat renews its Lease", async () => {
  const heartbeat = createHeartbeat({ client: plane.client, namespace, name: "provider-test", log, interval: 100 });
  heartbeat.start();
  const renewals = new Set<unknown>();
  await eventually(async () => {
    const found = await plane.client.read(Lease, { namespace, name: "gardener-extension-heartbeat" });
    if (found) renewals.add((found["spec"] as { renewTime: string }).renewTime);
    expect(renewals.size).toBeGreaterThan(2);
  });
  await heartbeat.stop();
});

function run(
  methods: Partial<Actuator<Infrastructure>>,
  guard?: Guard,
  more: Partial<ExtensionControllerOptions<"Infrastructure">> = {},
): ExtensionController {
  const actuator: Actuator<Infrastructure> = {
    reconcile: async () => undefined,
    delete: async () => undefined,
    migrate: async () => undefined,
    restore: async () => undefined,
    ...methods,
  };
  const options = { client: plane.client, kind: "Infrastructure", type: `t${count}`, actuator, log } as const;
  controller = createExtensionController({ ...options, ...(guard ? { guard } : {}), ...more });
  controller.start();
  return controller;
}

function create(metadata: object, spec: object = {}, name = "i"): Promise<Infrastructure> {
  return plane.client.create<Infrastructure>({
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Infrastructure",
    metadata: { name, namespace, ...metadata },
    spec: { type: `t${count}`, region: "one", secretRef: { name: "cloudprovider", namespace }, ...spec },
  });
}

function applyCluster(shoot: object): Promise<Cluster> {
  const metadata = { name: "i", namespace: "garden-dev" };
  return plane.client.apply({
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Cluster",
    metadata: { name: namespace },
    spec: { cloudProfile: {}, seed: {}, shoot: { metadata, ...shoot } },
  } as unknown as Cluster);
}

function lastOperation(state: string) {
  return { type: "Reconcile", state, progress: 50, description: "", lastUpdateTime: "2026-11-21T03:00:00Z" };
}

function ref(name = "i") {
  return refTo(Infrastructure, { name, namespace });
}

function read(): Promise<Infrastructure | undefined> {
  return plane.client.read(ref());
}

function patch(change: MergePatch): Promise<Infrastructure> {
  return plane.client.patch(ref(), change);
}

async function remove(): Promise<void> {
  await patch({ metadata: { annotations: { "confirmation.gardener.cloud/deletion": "true" } } });
  await plane.client.remove(ref());
}

function requested(object: Infrastructure | undefined): boolean {
  return object?.metadata.annotations?.["gardener.cloud/operation"] !== undefined;
}

async function until(condition: (object: Infrastructure | undefined) => boolean): Promise<Infrastructure | undefined> {
  return eventually(async () => {
    const object = await read();
    if (!condition(object)) throw new Error(`still waiting: ${JSON.stringify(object?.status)}`);
    return object;
  });
}

/** Says that it works, then works until it is told to stop. */
async function untilAborted(signal: AbortSignal, working: PromiseWithResolvers<void>): Promise<void> {
  await new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("aborted")));
    working.resolve();
  });
}
