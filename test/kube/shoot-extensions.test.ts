import { describe, expect } from "vitest";
import { createExtensionMoves } from "../../src/activities/extensions/moves.ts";
import { createGardenExtensions } from "../../src/worker/garden-extensions.ts";
import { createExtensions } from "../../src/activities/extensions/extensions.ts";
import { createReferences } from "../../src/activities/extensions/references.ts";
import { readShootView } from "../../src/activities/shoot/view.ts";
import { defaultLifecycle, type ExtensionPhase, type ShootExtension } from "../../src/api/extensions/lifecycle.ts";
import { ContainerRuntime, ControllerRegistration, Extension, Shoot } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { ConfigMap, refTo, Secret, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test as it } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { notedWaits } from "../support/noted-waits.ts";

const periods = { leaseSeconds: 60, dnsTtl: 120, syncPeriod: 1, seedDeadline: 1, retryDuration: 1 };
let kube: KubeClient;
let count = 0;

it.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await applyGarden(kube);
});

const pool = (name: string, runtimes: readonly string[]) => ({
  ...{ name, minimum: 1, maximum: 1, machine: { type: "local" } },
  cri: { name: "containerd", containerRuntimes: runtimes.map((type) => ({ type })) },
});
const newShoot = (change: Partial<Shoot["spec"]> = {}) => createShoot(kube, `extended-${(count += 1)}`, change);
const change = ({ namespace, name }: ShootRun, spec: object) => kube.patch(refTo(Shoot, { namespace, name }), { spec });
const extensions = () => createExtensions({ gardenClient: kube, seedClient: kube, waits: notedWaits });
const moves = (kept: { state?: unknown } = {}) =>
  createExtensionMoves({
    ...{ seedClient: kube, waits: notedWaits, wanted: extensions().wanted },
    ...{ kept: async () => kept, machines: async () => undefined, protect: async () => {} },
  });
const at = (type: string, lifecycle: Partial<ShootExtension> = {}): ShootExtension => ({
  type,
  ...defaultLifecycle,
  ...lifecycle,
});
const typesIn = async ({ technicalID: namespace }: ShootRun) =>
  (await kube.list(Extension, { namespace })).map(({ metadata }) => metadata.name).sort();
const askedOf = async ({ technicalID: namespace }: ShootRun, name: string) =>
  (await kube.read(Extension, { namespace, name }))?.metadata.annotations?.["gardener.cloud/operation"];

describe("the Extensions of a Shoot", () => {
  it("are known when an operation begins, from the garden's registrations", async () => {
    const lifecycle = { reconcile: "AfterWorker" } as const;
    const metadata = { name: "everywhere" };
    const resources = [{ kind: "Extension", type: "everywhere", autoEnable: ["shoot"], lifecycle }] as const;
    await kube.apply({ ...typeMeta(ControllerRegistration), metadata, spec: { resources } });
    const run = await newShoot({
      extensions: [{ type: "asked-for" }],
      resources: [{ name: "settings", resourceRef: { kind: "ConfigMap", name: "settings", apiVersion: "v1" } }],
    });
    const { extensions: known, hasReferences } = (await readShootView(kube, run, periods))?.run ?? {};
    expect(known).toEqual([at("asked-for"), at("everywhere", lifecycle)]);
    expect(hasReferences).toBe(true);
    const watched = (await readShootView(kube, run, periods, { registered: () => [] }))?.run?.extensions;
    expect(watched).toEqual([at("asked-for")]);
    await kube.remove(refTo(ControllerRegistration, metadata));
  });

  it("keep what a registration says of them while it is being deleted, and are given by it to none", async () => {
    const lifecycle = { reconcile: "AfterWorker" } as const;
    const metadata = { name: "leaving", finalizers: ["test.example.org/stays"] };
    const resources = [
      { kind: "Extension", type: "asked-for", lifecycle },
      { kind: "Extension", type: "unasked", autoEnable: ["shoot"] },
    ] as const;
    await kube.apply({ ...typeMeta(ControllerRegistration), metadata, spec: { resources } });
    await kube.remove(refTo(ControllerRegistration, metadata));
    const run = await newShoot({ extensions: [{ type: "asked-for" }] });
    expect((await readShootView(kube, run, periods))?.run?.extensions).toEqual([at("asked-for", lifecycle)]);
    const watched = createGardenExtensions(kube, createLogger({ name: "test", level: "silent" }));
    watched.start();
    await watched.synced();
    expect((await readShootView(kube, run, periods, watched))?.run?.extensions).toEqual([at("asked-for", lifecycle)]);
    await watched.stop();
    await kube.patch(refTo(ControllerRegistration, metadata), { metadata: { finalizers: null } });
  });

  it("are applied in their phase alone, as the Shoot configures them, and waited for as long as is registered", async () => {
    const run: ShootRun = {
      ...(await newShoot({ extensions: [{ type: "late", providerConfig: { level: 3 } }] })),
      extensions: [at("early", { reconcile: "BeforeKubeAPIServer" }), at("late", { deadline: 7_000 })],
    };
    const apply = (phase: ExtensionPhase) => extensions().apply(run, "Extension", "extensions", phase);
    expect(await apply("BeforeKubeAPIServer")).toMatchObject([{ name: "early", deadline: 180_000 }]);
    expect(await typesIn(run)).toEqual(["early"]);
    expect(await apply("AfterKubeAPIServer")).toMatchObject([{ name: "late", deadline: 7_000, until: "ready" }]);
    expect(await apply("AfterWorker")).toEqual([]);
    const late = await kube.read(Extension, { namespace: run.technicalID, name: "late" });
    expect(late?.spec).toEqual({ type: "late", providerConfig: { level: 3 } });
    expect(await askedOf(run, "late")).toBe("reconcile");
  });

  it("migrate and end in the phase that is registered; those that are registered no more, before the API server", async () => {
    const late = { delete: "AfterKubeAPIServer", migrate: "AfterKubeAPIServer" } as const;
    const all = [at("one"), at("two", late), at("forgotten")];
    const run = { ...(await newShoot()), extensions: all };
    await extensions().apply(run, "Extension", "extensions");
    const now = { ...run, extensions: all.slice(0, 2) };
    const migrate = async (phase: ExtensionPhase) =>
      (await moves().migrate(now, "Extension", "migration", phase)).map(({ name }) => name).sort();
    expect(await migrate("BeforeKubeAPIServer")).toEqual(["forgotten", "one"]);
    expect(await askedOf(run, "two")).toBe("reconcile");
    expect(await migrate("AfterKubeAPIServer")).toEqual(["two"]);
    expect(await askedOf(run, "two")).toBe("migrate");
    const remove = (phase: ExtensionPhase) => extensions().remove(now, "Extension", "removal", phase);
    expect(await remove("BeforeKubeAPIServer")).toHaveLength(2);
    expect(await typesIn(run)).toEqual(["two"]);
    expect(await remove("AfterKubeAPIServer")).toMatchObject([{ name: "two", until: "gone" }]);
    expect(await typesIn(run)).toEqual([]);
  });

  it("come back in their phase, with the state that was kept and the time that is registered", async () => {
    const run = { ...(await newShoot()), operation: "Restore", extensions: [at("one", { deadline: 9_000 })] } as const;
    const restore = (phase: ExtensionPhase) =>
      moves({ state: { since: "2026" } }).restore(run, "Extension", "restoration", phase);
    expect(await restore("AfterWorker")).toEqual([]);
    expect(await restore("AfterKubeAPIServer")).toMatchObject([{ name: "one", asked: "restore", deadline: 9_000 }]);
    const object = await kube.read(Extension, { namespace: run.technicalID, name: "one" });
    expect(object?.status?.state).toEqual({ since: "2026" });
  });
});

describe("what a Shoot has no more", () => {
  it("ends, and is waited for: an Extension that it refuses, and the runtime of a pool that is gone", async () => {
    const both = { provider: { type: "local", workers: [pool("one", ["gvisor"]), pool("two", ["gvisor", "kata"])] } };
    const run = { ...(await newShoot(both)), extensions: [at("kept"), at("refused")] };
    await extensions().apply(run, "Extension", "extensions");
    expect(await extensions().apply(run, "ContainerRuntime", "containerRuntime")).toHaveLength(3);
    expect(await extensions().removeStaleExtensions(run, "staleExtensions")).toEqual([]);

    await change(run, { provider: { workers: [pool("one", ["gvisor"])] } });
    const ended = await extensions().removeStaleExtensions({ ...run, extensions: [at("kept")] }, "staleExtensions");
    expect(ended.map(({ kind, name, until }) => [kind, name, until])).toEqual([
      ["Extension", "refused", "gone"],
      ["ContainerRuntime", "gvisor-two", "gone"],
      ["ContainerRuntime", "kata-two", "gone"],
    ]);
    expect(await typesIn(run)).toEqual(["kept"]);
    const runtimes = await kube.list(ContainerRuntime, { namespace: run.technicalID });
    expect(runtimes.map(({ metadata, spec }) => [metadata.name, spec.workerPool.name])).toEqual([
      ["gvisor-one", "one"],
    ]);
  });

  it("stays in an operation that began before Extensions were known", async () => {
    const run = { ...(await newShoot()), extensions: [at("one")] };
    await extensions().apply(run, "Extension", "extensions");
    const { extensions: _, ...unknowing } = run;
    expect(await extensions().removeStaleExtensions(unknowing, "staleExtensions")).toEqual([]);
    expect(await typesIn(run)).toEqual(["one"]);
  });
});

describe("the resources that a Shoot names", () => {
  const references = () => createReferences({ gardenClient: kube, seedClient: kube });
  const resource = (kind: "Secret" | "ConfigMap", name: string) => ({
    name,
    resourceRef: { apiVersion: "v1", kind, name },
  });
  const named = async (...resources: ReturnType<typeof resource>[]): Promise<ShootRun> => newShoot({ resources });
  const put = (kind: "Secret" | "ConfigMap", name: string, content: object) =>
    kube.apply({
      apiVersion: "v1",
      kind,
      metadata: { name, namespace: "garden-dev", labels: { of: "user" } },
      ...content,
    });
  const secretOf = ({ technicalID: namespace }: ShootRun, name: string) =>
    kube.read(Secret, { namespace, name: `ref-${name}` });
  const configMapOf = ({ technicalID: namespace }: ShootRun, name: string) =>
    kube.read(ConfigMap, { namespace, name: `ref-${name}` });

  it("are beside its control plane as they are now, without what users say of them", async () => {
    const run = await named(resource("Secret", "token"), resource("ConfigMap", "settings"));
    await put("Secret", "token", { type: "example.com/token", data: { token: "MQ==", old: "MQ==" } });
    await put("ConfigMap", "settings", { data: { level: "1" }, binaryData: { raw: "AA==" } });
    await references().deploy(run);
    expect(await secretOf(run, "token")).toMatchObject({ type: "example.com/token", data: { token: "MQ==" } });
    expect(await configMapOf(run, "settings")).toMatchObject({ data: { level: "1" }, binaryData: { raw: "AA==" } });
    expect((await secretOf(run, "token"))?.metadata.labels).not.toHaveProperty("of");
    await put("Secret", "token", { type: "example.com/token", data: { token: "Mg==" } });
    await references().deploy(run);
    expect((await secretOf(run, "token"))?.data).toEqual({ token: "Mg==" });
  });

  it("are made anew where what changed can never change: a Secret's type, and what is immutable", async () => {
    const run = await named(resource("Secret", "typed"), resource("ConfigMap", "frozen"));
    await put("Secret", "typed", { type: "example.com/one", data: { a: "MQ==" } });
    await put("ConfigMap", "frozen", { immutable: true, data: { level: "1" } });
    await references().deploy(run);
    const before = (await configMapOf(run, "frozen"))?.metadata.uid;
    await references().deploy(run);
    expect((await configMapOf(run, "frozen"))?.metadata.uid).toBe(before);
    await kube.remove(refTo(Secret, { namespace: "garden-dev", name: "typed" }));
    await kube.remove(refTo(ConfigMap, { namespace: "garden-dev", name: "frozen" }));
    await put("Secret", "typed", { type: "example.com/two", data: { a: "MQ==" } });
    await put("ConfigMap", "frozen", { immutable: true, data: { level: "2" } });
    await references().deploy(run);
    expect(await secretOf(run, "typed")).toMatchObject({ type: "example.com/two" });
    expect(await configMapOf(run, "frozen")).toMatchObject({ data: { level: "2" }, immutable: true });
  });

  it("have to be there, but for a deletion, which leaves the copies that it has", async () => {
    const run = await named(resource("ConfigMap", "gone"));
    const missing = "ConfigMap garden-dev/gone, which spec.resources names, does not exist";
    await expect(references().deploy(run)).rejects.toThrow(missing);
    const deletion = { ...run, operation: "Delete" } as const;
    await references().deploy(deletion);
    expect(await configMapOf(run, "gone")).toBeUndefined();
    await put("ConfigMap", "gone", { data: { level: "1" } });
    await references().deploy(run);
    await kube.remove(refTo(ConfigMap, { namespace: "garden-dev", name: "gone" }));
    await references().deploy(deletion);
    await expect(references().deploy(run)).rejects.toThrow(missing);
    expect((await configMapOf(run, "gone"))?.data).toEqual({ level: "1" });
  });

  it("lose their copies once the Shoot names them no more, and nothing else does", async () => {
    const run = await named(resource("Secret", "kept"), resource("ConfigMap", "kept"), resource("Secret", "dropped"));
    await put("Secret", "kept", {});
    await put("ConfigMap", "kept", {});
    await put("Secret", "dropped", {});
    await kube.apply({ ...typeMeta(Secret), metadata: { namespace: run.technicalID, name: "ref-of-another" } });
    await references().deploy(run);
    await change(run, { resources: [resource("ConfigMap", "kept")] });
    await references().removeStale(run);
    expect(await secretOf(run, "dropped")).toBeUndefined();
    expect(await secretOf(run, "kept")).toBeUndefined();
    expect(await configMapOf(run, "kept")).toBeDefined();
    expect(await secretOf(run, "of-another")).toBeDefined();
  });
});
