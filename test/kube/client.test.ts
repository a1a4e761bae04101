import { rm, writeFile } from "node:fs/promises";
import { afterAll, describe, expect } from "vitest";
import {
  ConfigMap,
  createKubeClient,
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  KubeError,
  Namespace,
  refTo,
  updateStatus,
  type KubeClient,
} from "../../src/kube/index.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { startFaultyProxy, type FaultyProxy } from "../support/faulty-proxy.ts";
import { Gadget, installKind, installWidgets, Widget, widget } from "../support/widget.ts";

let controlPlane: ControlPlane;
let client: KubeClient;
let proxy: FaultyProxy;

test.beforeAll(async ({ cluster }) => {
  controlPlane = cluster;
  client = controlPlane.client;
  await installWidgets(client);
  proxy = await startFaultyProxy(controlPlane.tokenKubeconfig);
});

afterAll(async () => await proxy?.close());

const configMapType = { apiVersion: "v1", kind: "ConfigMap" } as const;

function configMap(name: string, data: ConfigMap["data"] = {}, metadata: object = {}): ConfigMap {
  return { ...configMapType, metadata: { name, namespace: "default", ...metadata }, data };
}

function ref(name: string) {
  return refTo(ConfigMap, { namespace: "default", name });
}

async function errorOf(call: Promise<unknown>): Promise<KubeError> {
  const error = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (error instanceof KubeError) return error;
  throw new Error("the call was expected to fail with a KubeError", { cause: error });
}

describe("a kind whose CRD is created later", () => {
  test("is unknown at first, which may change, and is found as soon as it is served", async () => {
    const error = await errorOf(client.list(Gadget));
    expect(error.message).toBe("cannot list Gadget: the API server has no kind Gadget in test.perennial.dev/v1");
    expect(error).toMatchObject({ status: 404, reason: "UnknownKind", retryable: true });
    await client.remove(refTo(Gadget, { namespace: "default", name: "none" }));
    await client.removeAll(Gadget, {});

    await installKind(client, Gadget);

    expect(await client.list(Gadget)).toEqual([]);
    const types = await client.types();
    expect(types).toContainEqual({
      apiVersion: Gadget.apiVersion,
      kind: Gadget.kind,
      plural: "gadgets",
      namespaced: true,
      verbs: expect.arrayContaining(["deletecollection", "watch"]),
    });
    expect(types).toContainEqual(expect.objectContaining({ apiVersion: "v1", kind: "Node", namespaced: false }));
  });
});

describe("server-side apply", () => {
  test("creates the object, changes it, and removes fields that we no longer name", async () => {
    const created = await client.apply(configMap("applied", { a: "1", b: "2" }));
    const changed = await client.apply(configMap("applied", { a: "3" }));
    expect(changed.metadata.uid).toBe(created.metadata.uid);
    expect(changed.data).toEqual({ a: "3" });
  });

  test("leaves fields of other managers alone and takes over those that we name", async () => {
    await client.apply(configMap("shared", { theirs: "1", both: "theirs" }), { fieldManager: "them" });
    await client.apply(configMap("shared", { ours: "2", both: "ours" }));
    const shared = await client.read(ref("shared"));
    expect(shared?.data).toEqual({ theirs: "1", ours: "2", both: "ours" });
    const managers = shared?.metadata.managedFields?.map((entry) => (entry as { manager: string }).manager);
    expect(managers?.toSorted()).toEqual(["perennial", "them"]);
  });

  test("accepts an object as it was read, managedFields and all", async () => {
    await client.apply(configMap("round-trip", { a: "1" }));
    const read = await client.read(ref("round-trip"));
    if (read === undefined) throw new Error("round-trip is gone");
    const applied = await client.apply({ ...read, data: { a: "2" } });
    expect(applied.data).toEqual({ a: "2" });
  });

  test("changes nothing in a dry run", async () => {
    const applied = await client.apply(configMap("dry", { a: "1" }), { dryRun: true });
    expect(applied.data).toEqual({ a: "1" });
    expect(await client.read(ref("dry"))).toBeUndefined();
  });

  test("with the uid of an object that is gone does not bring it back", async () => {
    const { metadata } = await client.apply(configMap("gone"));
    await client.remove(ref("gone"));
    const error = await errorOf(client.apply(configMap("gone", {}, { uid: metadata.uid })));
    expect(error).toMatchObject({ status: 409, retryable: false });
    expect(await client.read(ref("gone"))).toBeUndefined();
  });
});

describe("the status subresource", () => {
  test("is written apart from the spec", async () => {
    await client.apply(widget("default", "status", { size: 1 }));
    await client.applyStatus({ ...widget("default", "status", { size: 2 }), status: { ready: true } });
    const read = await client.read(Widget, { namespace: "default", name: "status" });
    expect(read).toMatchObject({ spec: { size: 1 }, status: { ready: true } });
    await client.patch(
      refTo(Widget, { namespace: "default", name: "status" }),
      { status: { ready: null } },
      { subresource: "status" },
    );
    expect((await client.read(Widget, { namespace: "default", name: "status" }))?.status).toEqual({});
  });

  test("is updated by compare-and-swap, again when another writer was faster", async () => {
    const widgetRef = refTo(Widget, { namespace: "default", name: "swap" });
    await client.apply(widget("default", "swap"));
    const through = createKubeClient({ file: proxy.kubeconfigFile });
    proxy.fail(/PUT .*widgets\/swap\/status/, { status: 409, body: { reason: "Conflict", message: "changed" } });
    const sizes: unknown[] = [];
    await updateStatus(through, widgetRef, ({ spec }) => {
      sizes.push(spec.size);
      return { ready: false };
    });
    await through.close();
    expect(sizes).toHaveLength(2);
    const again = await updateStatus(client, widgetRef, () => ({ ready: true }));
    const unchanged = await updateStatus(client, widgetRef, () => ({ ready: true }));
    expect(unchanged?.metadata.resourceVersion).toBe(again?.metadata.resourceVersion);
    expect(await updateStatus(client, { ...widgetRef, name: "none" }, () => ({}))).toBeUndefined();
  });
});

describe("compare-and-swap", () => {
  test("makes replace fail with a conflict when the object has changed since it was read", async () => {
    const read = await client.apply(configMap("replaced", { a: "1" }));
    await client.replace({ ...read, data: { a: "2" } });
    const error = await errorOf(client.replace({ ...read, data: { a: "3" } }));
    expect(isConflict(error)).toBe(true);
    expect(error.retryable).toBe(true);
    expect(error.message).toMatch(/^cannot replace ConfigMap default\/replaced: Operation cannot be fulfilled/);
  });

  test("makes create fail when the object exists", async () => {
    await client.create(configMap("created"));
    const error = await errorOf(client.create(configMap("created")));
    expect(isAlreadyExists(error)).toBe(true);
    expect(isConflict(error)).toBe(false);
    expect(error.retryable).toBe(false);
  });

  test("makes a JSON patch do nothing when its test fails", async () => {
    await client.apply(configMap("patched", { a: "1" }));
    const patch = (was: string) => [
      { op: "test", path: "/data/a", value: was } as const,
      { op: "replace", path: "/data/a", value: "2" } as const,
    ];
    expect(await errorOf(client.patch(ref("patched"), patch("0")))).toMatchObject({ status: 422, retryable: false });
    expect(await client.patch(ref("patched"), patch("1"))).toMatchObject({ data: { a: "2" } });
    expect(await client.patch(ref("patched"), { data: { a: null, b: "3" } })).toMatchObject({
      data: { b: "3" },
    });
  });

  test("makes remove spare an object that is not the one meant", async () => {
    await client.apply(configMap("kept"));
    const uid = "00000000-0000-0000-0000-000000000000";
    const error = await errorOf(client.remove(ref("kept"), { uid }));
    expect(error).toMatchObject({ status: 409, retryable: false });
    const kept = await client.read(ref("kept"));
    await client.remove(ref("kept"), { uid: kept?.metadata.uid ?? "" });
    await client.remove(ref("kept"));
    expect(await client.read(ref("kept"))).toBeUndefined();
  });
});

describe("many objects", () => {
  test("are listed whole, page by page, each with its kind; their metadata also when the server loses its history meanwhile", async () => {
    const names = Array.from({ length: 1_203 }, (_, i) => `many-${i}`);
    const label = { labels: { many: "yes" } };
    await Promise.all(names.map((name) => client.create(configMap(name, {}, label))));
    const through = createKubeClient({ file: proxy.kubeconfigFile });
    const before = proxy.requests.length;
    const listed = await through.list(ConfigMap, { namespace: "default", labelSelector: "many=yes" });
    expect(listed.map(({ metadata }) => metadata.name).toSorted()).toEqual(names.toSorted());
    expect(listed[0]).toMatchObject(configMapType);
    expect(proxy.requests.slice(before).filter((line) => line.includes("limit=500"))).toHaveLength(3);
    await through.close();

    const seen: string[] = [];
    for await (const { metadata } of client.metadata(ConfigMap, { labelSelector: "many=yes" })) {
      if (seen.length === 0) await forgetHistory();
      seen.push(metadata.name);
    }
    expect(seen.toSorted()).toEqual(names.toSorted());

    await client.removeAll(ConfigMap, { namespace: "default", labelSelector: "many=yes" });
    expect(await client.list(ConfigMap, { labelSelector: "many=yes" })).toEqual([]);
  });

  test("are none where there is none, also when only their metadata is asked for", async () => {
    const selection = { labelSelector: "none=such" };
    expect(await client.list(ConfigMap, selection)).toEqual([]);
    const found: unknown[] = [];
    for await (const object of client.metadata(ConfigMap, selection)) found.push(object);
    expect(found).toEqual([]);
  });

  test("are removed in every namespace, and one by one where the server has no other way", async () => {
    for (const name of ["one", "two"]) {
      await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels: { few: "yes" } } });
      await client.apply(widget(name, "w"));
    }
    await client.removeAll(Widget, {});
    expect(await client.list(Widget)).toEqual([]);
    await client.removeAll(Namespace, { labelSelector: "few=yes" });
    const left = await client.list(Namespace, { labelSelector: "few=yes" });
    expect(left.every(({ metadata }) => metadata.deletionTimestamp !== undefined)).toBe(true);
  });
});

describe("errors", () => {
  test("say that nothing can be created in a namespace that is going", async () => {
    await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "going" } });
    await client.remove(refTo(Namespace, { name: "going" }));
    const error = await eventually(async () => {
      const error = await errorOf(client.create({ ...configMapType, metadata: { namespace: "going", name: "late" } }));
      return isNamespaceTerminating(error) && error;
    });
    expect(error).toMatchObject({ status: 403, retryable: false, server: client.server });
    expect(error.message).toMatch(/^cannot create ConfigMap going\/late: .*is being terminated/);
  });

  test("tell a field that the schema lacks from a server in trouble, although both are a 500", async () => {
    const wrong = { ...widget("default", "wrong"), spec: { shape: "round" } };
    const error = await errorOf(client.apply(wrong));
    expect(error).toMatchObject({ status: 500, retryable: false });
    expect(error.message).toContain("cannot apply Widget default/wrong: failed to create typed patch object");
    expect(await errorOf(client.create(wrong))).toMatchObject({ status: 400, retryable: false });
  });

  test("name each field that is invalid", async () => {
    const tooBig = await errorOf(client.apply(widget("default", "big", { size: 101 })));
    expect(tooBig).toMatchObject({ status: 422, reason: "Invalid", retryable: false });
    expect(tooBig.causes).toContainEqual(expect.objectContaining({ field: "spec.size" }));
    const noColour = await errorOf(client.apply(widget("default", "none", { colour: "none" })));
    expect(noColour.message).toContain("a widget has a colour");
  });

  test("say what is missing: the object to patch, the namespace to create in, the namespace of a name", async () => {
    expect(isNotFound(await errorOf(client.patch(ref("none"), { data: {} })))).toBe(true);
    const error = await errorOf(client.apply({ ...configMapType, metadata: { namespace: "none", name: "a" } }));
    expect(error).toMatchObject({ status: 404, retryable: false });
    // @ts-expect-error -- a namespaced kind asks for a namespace; here somebody gets round the compiler
    await expect(client.read(ConfigMap, { name: "a" })).rejects.toThrow(
      "cannot read ConfigMap a: ConfigMap needs a namespace",
    );
  });

  test("of admission webhooks that are down may go away", async () => {
    await client.apply(brokenWebhook);
    const error = await eventually(async () => {
      const error = await client.apply(widget("default", "hooked")).then(
        () => undefined,
        (error: unknown) => error,
      );
      return error instanceof KubeError && error;
    });
    await client.remove({ ...brokenWebhook, name: brokenWebhook.metadata.name });
    expect(error).toMatchObject({ status: 500, reason: "InternalError", retryable: true });
    await eventually(() => client.apply(widget("default", "hooked")));
  });

  test("of a server that is down name the server", async () => {
    const nobody = createKubeClient({ kubeconfig: controlPlane.kubeconfig.replace(/127.0.0.1:\d+/, "127.0.0.1:1") });
    const error = await errorOf(nobody.read(ref("any")));
    expect(error).toMatchObject({ status: 0, reason: "Unreachable", retryable: true });
    expect(error.message).toBe(
      "cannot read ConfigMap default/any: cannot discover v1: https://127.0.0.1:1 is unreachable: connect ECONNREFUSED 127.0.0.1:1",
    );
  });
});

describe("a connection", () => {
  test("is kept for later calls, and 100 calls at once share 16", async () => {
    const through = createKubeClient({ file: proxy.kubeconfigFile });
    const before = proxy.connections();
    for (let i = 0; i < 20; i++) await through.read(ref("any"));
    expect(proxy.connections() - before).toBeLessThanOrEqual(2);
    await Promise.all(Array.from({ length: 100 }, () => through.read(ref("any"))));
    expect(proxy.connections() - before).toBeLessThanOrEqual(16);
    await through.close();
  });

  test("that is reset makes a GET try once more, and nothing else", async () => {
    const through = createKubeClient({ file: proxy.kubeconfigFile });
    await through.apply(configMap("reset"));
    proxy.fail(/configmaps\/reset/, "reset");
    expect(await through.read(ref("reset"))).toBeDefined();
    proxy.fail(/configmaps\/reset/, "reset", "reset");
    expect(await errorOf(through.read(ref("reset")))).toMatchObject({ status: 0, retryable: true });
    proxy.fail(/configmaps\/reset/, "reset");
    expect(await errorOf(through.apply(configMap("reset")))).toMatchObject({ status: 0, retryable: true });
    await through.close();
  });

  test("waits when the server asks for it, and gives up when it asks for too much", async () => {
    const through = createKubeClient({ file: proxy.kubeconfigFile });
    await through.apply(configMap("throttled"));
    proxy.fail(/configmaps\/throttled/, { status: 429, headers: { "retry-after": "1" } });
    const startedAt = Date.now();
    await through.apply(configMap("throttled"));
    expect(Date.now() - startedAt).toBeGreaterThan(950);
    proxy.fail(/configmaps\/throttled/, { status: 429, headers: { "retry-after": "60" } });
    const error = await errorOf(through.apply(configMap("throttled")));
    expect(error).toMatchObject({ status: 429, retryAfter: 60, retryable: true });
    await through.close();
  });
});

describe("credentials", () => {
  test.each(["kubeconfig", "tokenKubeconfig"] as const)("from a %s are accepted", async (name) => {
    const other = createKubeClient({ kubeconfig: controlPlane[name] });
    await eventually(async () => expect(await other.get("/readyz")).toBe("ok"));
    expect(await other.get("/version")).toMatchObject({ gitVersion: expect.stringMatching(/^v1\./) });
    await other.close();
  });

  test("that the server does not know are refused, and asking again may help", async () => {
    const stranger = createKubeClient({
      kubeconfig: controlPlane.tokenKubeconfig.replace(/token: .*/, "token: wrong"),
    });
    expect(await errorOf(stranger.read(ref("any")))).toMatchObject({ status: 401, retryable: true });
    await stranger.close();
  });
});

test("a kubeconfig file that was rotated is read again when the server refuses what it said before", async () => {
  const file = `${controlPlane.kubeconfigFile}.rotated`;
  await writeFile(file, controlPlane.tokenKubeconfig.replace(/token: .*/, "token: expired"));
  const late = createKubeClient({ file });
  await writeFile(file, controlPlane.kubeconfig);
  expect(await late.read(ref("any"))).toBeUndefined();
  await rm(file);
  expect(await late.read(ref("any"))).toBeUndefined();
  await late.close();
});

/** Leaves the server nothing but the newest version: not in its memory, and not in etcd. */
async function forgetHistory(): Promise<void> {
  const { metadata } = await client.apply(configMap("newest"));
  await controlPlane.etcdctl("compaction", String(metadata.resourceVersion));
  await controlPlane.restart();
}

const brokenWebhook = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: "broken" },
  webhooks: [
    {
      name: "broken.test.perennial.dev",
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      failurePolicy: "Fail",
      timeoutSeconds: 1,
      clientConfig: { url: "https://127.0.0.1:1/" },
      rules: [{ apiGroups: ["test.perennial.dev"], apiVersions: ["v1"], operations: ["*"], resources: ["widgets"] }],
    },
  ],
};
