import { expect } from "vitest";
import { runtimeLabel } from "../../src/api/labels.ts";
import { Cluster, ContainerRuntime, Extension, Worker, type KubeObject, type Shoot } from "../../src/api/index.ts";
import type { ExtensionObject } from "../../src/api/extensions/kinds.ts";
import { createExtensionController } from "../../src/extension/index.ts";
import { ConfigMap, refOf, refTo, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createContainerRuntimeActuator } from "../../src/provider-local/extension/container-runtime.ts";
import { createNoteActuator, type NotePlace } from "../../src/provider-local/extension/note.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";

const log = createLogger({ name: "test", level: "silent" });
const namespace = "shoot--dev--noted";
const places: readonly NotePlace[] = ["seed", "shoot", "nodes"];
let kube: KubeClient;
let running: { stop(): Promise<void> }[];

// One API server is both the seed and the Shoot: its namespaces tell them apart.
test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  const shoots = { open: async () => kube, forget: async () => {}, close: async () => {} };
  const controllers = [
    ...places.map((place) =>
      createExtensionController({
        ...{ client: kube, kind: "Extension", type: `note-${place}`, log },
        actuator: createNoteActuator(place, shoots),
      }),
    ),
    createExtensionController({
      ...{ client: kube, kind: "ContainerRuntime", type: "local-runc", log },
      actuator: createContainerRuntimeActuator(shoots),
    }),
  ];
  for (const controller of controllers) controller.start();
  running = controllers;
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await kube.apply(clusterWith({ resources: [{ name: "words", resourceRef: { kind: "ConfigMap", name: "words" } }] }));
  const metadata = { name: "ref-words", namespace };
  await kube.apply({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { text: "from the garden" } });
  const worker = refTo(Worker, { namespace, name: "noted" });
  const spec = { type: "local", region: "one", secretRef: { name: "cloudprovider", namespace } };
  const pool = {
    ...{ name: "one", minimum: 1, maximum: 1, maxSurge: 1, maxUnavailable: 0, machineType: "local" },
    ...{ machineImage: { name: "local", version: "1" }, userDataSecretRef: { name: "data", key: "data" } },
  };
  const { apiVersion, kind, name } = worker;
  await kube.apply({ apiVersion, kind, metadata: { name, namespace }, spec: { ...spec, pools: [pool] } });
  const done = {
    type: "Create",
    state: "Succeeded",
    progress: 100,
    description: "",
    lastUpdateTime: "2026-01-01T00:00:00Z",
  };
  await kube.patch(worker, { status: { lastOperation: done } }, { subresource: "status" });
});
test.afterAll(async () => void (await Promise.all(running.map((one) => one.stop()))));

function clusterWith(spec: object): KubeObject {
  const shoot = { apiVersion: "core.gardener.cloud/v1beta1", kind: "Shoot", metadata: { name: "noted" }, spec };
  const empty = { apiVersion: "core.gardener.cloud/v1beta1", metadata: { name: "local" }, spec: {} };
  return {
    ...{ apiVersion: Cluster.apiVersion, kind: Cluster.kind, metadata: { name: namespace } },
    spec: {
      shoot: shoot as unknown as Shoot,
      seed: { ...empty, kind: "Seed" },
      cloudProfile: { ...empty, kind: "CloudProfile" },
    },
  };
}

const ask = (operation: string) => ({
  "gardener.cloud/operation": operation,
  "gardener.cloud/timestamp": new Date().toISOString(),
});
const settled = (object: KubeObject) =>
  eventually(async () => {
    const { metadata, status } = ((await kube.read(refOf(object))) as ExtensionObject | undefined) ?? {};
    expect(metadata?.annotations).not.toHaveProperty("gardener.cloud/operation");
    expect(status?.lastOperation?.state, JSON.stringify(status?.lastError)).toBe("Succeeded");
    return status;
  });

const note = (place: NotePlace, providerConfig: object, operation = "reconcile") => ({
  ...{ apiVersion: Extension.apiVersion, kind: Extension.kind },
  metadata: { name: `note-${place}`, namespace, annotations: ask(operation) },
  spec: { type: `note-${place}`, providerConfig },
});
const noteIn = (place: NotePlace) =>
  kube.read(ConfigMap, { name: `note-${place}`, namespace: place === "seed" ? namespace : "kube-system" });
const confirmed = { "confirmation.gardener.cloud/deletion": "true" };

test("a note is where its type says, with its text or that of a resource of the Shoot, until its Extension ends", async () => {
  for (const [place, config, text] of [
    ["seed", { text: "by hand" }, "by hand"],
    ["shoot", { textFrom: "words" }, "from the garden"],
    ["nodes", { text: "of machines" }, "of machines"],
  ] as const) {
    const object = note(place, config);
    await kube.apply(object);
    const status = await settled(object);
    const data = (await noteIn(place))?.data;
    expect(data).toMatchObject({ text, ...(place === "nodes" ? { pools: "one" } : {}) });
    expect(status?.state).toEqual({ since: data?.["since"] });
    await kube.patch(refOf(object), { metadata: { annotations: confirmed } });
    await kube.remove(refOf(object));
    await eventually(async () => expect(await kube.read(refOf(object))).toBeUndefined());
    expect(await noteIn(place)).toBeUndefined();
  }
});

test("a note that moves leaves the seed and not the Shoot, and is as old as before where it comes", async () => {
  for (const place of ["seed", "shoot"] as const) {
    const object = note(place, { text: "moved" });
    await kube.apply(object);
    await settled(object);
    await kube.patch(refOf(object), { metadata: { annotations: ask("migrate") } });
    await settled(object);
    expect(await noteIn(place)).toEqual(place === "seed" ? undefined : expect.anything());
    const state = { since: "2026-01-01T00:00:00Z" };
    await kube.patch(refOf(object), { status: { state } }, { subresource: "status" });
    await kube.patch(refOf(object), { metadata: { annotations: ask("restore") } });
    await settled(object);
    expect((await noteIn(place))?.data).toMatchObject({ text: "moved", ...state });
  }
});

test("a note whose text is nowhere is an error that says so", async () => {
  const object = note("nodes", { textFrom: "nothing" });
  await kube.apply(object);
  await eventually(async () => {
    const found = await kube.read(Extension, { namespace, name: object.metadata.name });
    expect(found?.status?.lastError?.description).toContain("the Shoot has no resource nothing");
  });
});

test("the pools of a Shoot share a runtime's class, which goes with the last of them", async () => {
  const runtime = (pool: string) => ({
    ...{ apiVersion: ContainerRuntime.apiVersion, kind: ContainerRuntime.kind },
    metadata: { name: `local-runc-${pool}`, namespace, annotations: { ...ask("reconcile"), ...confirmed } },
    spec: {
      ...{ type: "local-runc", binaryPath: "/var/bin/containerruntimes" },
      workerPool: { name: pool, selector: { matchLabels: {} } },
    },
  });
  const classRef = { apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", name: "local-runc" };
  const end = async (pool: string) => {
    const ref = refTo(ContainerRuntime, { namespace, name: `local-runc-${pool}` });
    await kube.remove(ref);
    await eventually(async () => expect(await kube.read(ref)).toBeUndefined());
  };
  for (const pool of ["one", "two"]) {
    await kube.apply(runtime(pool));
    await settled(runtime(pool));
  }
  expect(await kube.read(classRef)).toMatchObject({
    ...{ handler: "runc", scheduling: { nodeSelector: { [runtimeLabel("local-runc")]: "true" } } },
  });
  await end("one");
  expect(await kube.read(classRef)).toBeDefined();
  await end("two");
  expect(await kube.read(classRef)).toBeUndefined();
});
