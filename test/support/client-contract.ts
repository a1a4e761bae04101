import { describe, expect } from "vitest";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import {
  ConfigMap,
  isAlreadyExists,
  isConflict,
  isNotFound,
  KubeError,
  Namespace,
  refOf,
  refTo,
  type KubeClient,
} from "../../src/kube/index.ts";
import { Widget, widget } from "./widget.ts";

/** The failure of a call that has to fail. */
export async function failureOf(call: Promise<unknown>): Promise<KubeError> {
  const failure = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof KubeError) return failure;
  throw new Error("the call was expected to fail with a KubeError", { cause: failure });
}

/** Defines a test, as each test file has its own way of doing. */
type DefineTest = (name: string, run: () => Promise<void>) => unknown;

/** What every KubeClient does, be its cluster an API server that serves widgets, or something that stands for one. */
export function describeClientContract(test: DefineTest, client: () => KubeClient): void {
  describe("a new object", () => {
    test("is given a uid, a version and a time, and comes back as it was written", async () => {
      const created = await client().create(
        configMap("new", { a: "1", text: "one\n two\n", time: "2026-01-31T12:00:00Z" }),
      );
      expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(Number(created.metadata.resourceVersion)).toBeGreaterThan(0);
      expect(created.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(created.metadata.generation).toBeUndefined();
      expect(await client().read(mapRef("new"))).toEqual(created);
      expect(created.data).toEqual({ a: "1", text: "one\n two\n", time: "2026-01-31T12:00:00Z" });
    });

    test("is refused where one of its name is, where its namespace is not, and with a name that is none", async () => {
      await client().create(configMap("twice"));
      const twice = await failureOf(client().create(configMap("twice")));
      expect(isAlreadyExists(twice)).toBe(true);
      expect(twice.message).toBe('cannot create ConfigMap default/twice: configmaps "twice" already exists');
      const nowhere = await failureOf(
        client().create({ ...configMap("a"), metadata: { namespace: "none", name: "a" } }),
      );
      expect(isNotFound(nowhere)).toBe(true);
      expect(nowhere.message).toBe('cannot create ConfigMap none/a: namespaces "none" not found');
      expect(await failureOf(client().create(configMap("No_Name")))).toMatchObject({ status: 422, reason: "Invalid" });
      const versioned = configMap("versioned", {}, { resourceVersion: "1" });
      await expect(client().create(versioned)).rejects.toThrow("resourceVersion should not be set");
    });

    test("is not written by a dry run", async () => {
      await client().create(configMap("dry"), { dryRun: true });
      await client().apply(configMap("dry"), { dryRun: true });
      expect(await client().read(mapRef("dry"))).toBeUndefined();
    });

    test("does not bring its own status, and counts from its first generation", async () => {
      const object = { ...widget("default", "first", { size: 1 }), status: { ready: true } };
      const created = await client().create(object);
      expect(created.status).toBeUndefined();
      expect(created.metadata.generation).toBe(1);
    });
  });

  describe("a name", () => {
    test("leads to no other path", async () => {
      for (const name of ["", ".", ".."])
        expect(await failureOf(client().read(mapRef(name)))).toMatchObject({ status: 400 });
      // @ts-expect-error -- a namespaced kind asks for a namespace; here the compiler is got round
      await expect(client().read(ConfigMap, { name: "a" })).rejects.toThrow(
        "cannot read ConfigMap a: ConfigMap needs a namespace",
      );
    });
  });

  describe("a change", () => {
    test("has a version of its own, and one that changes nothing has none", async () => {
      const created = await client().create(configMap("versions", { a: "1" }));
      const changed = await client().replace({ ...created, data: { a: "2" } });
      expect(Number(changed.metadata.resourceVersion)).toBeGreaterThan(Number(created.metadata.resourceVersion));
      expect(changed.metadata.uid).toBe(created.metadata.uid);
      const same = [await client().replace(changed), await client().patch(mapRef("versions"), { data: { a: "2" } })];
      const applied = await client().apply(configMap("versions", { a: "2" }));
      const again = await client().apply(configMap("versions", { a: "2" }));
      expect(same.map(({ metadata }) => metadata.resourceVersion)).toEqual(
        Array(2).fill(changed.metadata.resourceVersion),
      );
      expect(again.metadata.resourceVersion).toBe(applied.metadata.resourceVersion);
    });

    test("is refused when the object has changed since it was read", async () => {
      const read = await client().create(configMap("stale", { a: "1" }));
      await client().replace({ ...read, data: { a: "2" } });
      const stale = { ...read, data: { a: "3" } };
      const { resourceVersion } = read.metadata;
      for (const call of [
        () => client().replace(stale),
        () => client().apply(stale),
        () => client().patch(mapRef("stale"), { metadata: { resourceVersion }, data: { a: "3" } }),
        () => client().remove(mapRef("stale"), { resourceVersion: resourceVersion ?? "" }),
      ]) {
        const refused = await failureOf(call());
        expect(isConflict(refused)).toBe(true);
        expect(refused).toMatchObject({ status: 409, reason: "Conflict", retryable: true });
      }
      expect((await client().read(mapRef("stale")))?.data).toEqual({ a: "2" });
    });

    test("is refused when the object is another one, and brings none back that is gone", async () => {
      const created = await client().create(configMap("other"));
      const uid = "00000000-0000-0000-0000-000000000000";
      const replaced = await failureOf(client().replace({ ...created, metadata: { ...created.metadata, uid } }));
      expect(isConflict(replaced)).toBe(true);
      expect(replaced.message).toContain(`Precondition failed: UID in precondition: ${uid}`);
      expect(await failureOf(client().remove(mapRef("other"), { uid }))).toMatchObject({
        status: 409,
        retryable: false,
      });
      await client().remove(mapRef("other"), { uid: created.metadata.uid ?? "" });
      await client().remove(mapRef("other"));
      const applied = await failureOf(client().apply(configMap("other", {}, { uid: created.metadata.uid })));
      expect(applied).toMatchObject({ status: 409, retryable: false });
      expect(isNotFound(await failureOf(client().replace(configMap("other"))))).toBe(true);
      expect(isNotFound(await failureOf(client().patch(mapRef("other"), { data: {} })))).toBe(true);
      expect(await client().read(mapRef("other"))).toBeUndefined();
    });

    test("of a custom resource needs the version that it replaces", async () => {
      await client().create(widget("default", "unversioned"));
      const refused = await failureOf(client().replace(widget("default", "unversioned", { size: 1 })));
      expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    });

    test("counts as a generation when it is of what is wanted, and not of metadata or status", async () => {
      const created = await client().create(widget("default", "counted", { size: 1 }));
      const labelled = await client().patch(widgetRef("counted"), { metadata: { labels: { a: "b" } } });
      const seen = await client().replaceStatus({ ...labelled, spec: { size: 9 }, status: { ready: true } });
      expect(seen).toMatchObject({ spec: { size: 1 }, status: { ready: true }, metadata: { generation: 1 } });
      const changed = await client().replace({ ...seen, spec: { size: 2 }, status: { ready: false } });
      expect(changed).toMatchObject({ spec: { size: 2 }, status: { ready: true }, metadata: { generation: 2 } });
      expect(changed.metadata.creationTimestamp).toBe(created.metadata.creationTimestamp);
    });

    test("of what is immutable is refused", async () => {
      await client().create({ ...configMap("fixed", { a: "1" }), immutable: true });
      expect(await failureOf(client().apply(configMap("fixed", { a: "2" })))).toMatchObject({
        status: 422,
        retryable: false,
      });
      expect(await client().patch(mapRef("fixed"), { metadata: { labels: { a: "b" } } })).toMatchObject({
        data: { a: "1" },
      });
    });
  });

  describe("a patch", () => {
    test("sets and removes fields", async () => {
      await client().create(configMap("merged", { a: "1", b: "2" }));
      expect(await client().patch(mapRef("merged"), { data: { a: null, c: "3" } })).toMatchObject({
        data: { b: "2", c: "3" },
      });
    });

    test("of operations does all or nothing", async () => {
      await client().create(configMap("operations", { a: "1" }));
      const patch = (was: string) => [
        { op: "add", path: "/data/b", value: "2" } as const,
        { op: "test", path: "/data/a", value: was } as const,
        { op: "remove", path: "/data/a" } as const,
      ];
      expect(await failureOf(client().patch(mapRef("operations"), patch("0")))).toMatchObject({
        status: 422,
        retryable: false,
      });
      expect((await client().read(mapRef("operations")))?.data).toEqual({ a: "1" });
      expect((await client().patch(mapRef("operations"), patch("1"))).data).toEqual({ b: "2" });
      const missing = client().patch(mapRef("operations"), [{ op: "remove", path: "/data/none" }]);
      expect(await failureOf(missing)).toMatchObject({ status: 422 });
    });
  });

  describe("server-side apply", () => {
    test("removes what the same writer names no longer, and leaves what others wrote", async () => {
      await client().apply(configMap("shared", { theirs: "1", both: "theirs" }), { fieldManager: "them" });
      await client().apply(configMap("shared", { ours: "2", both: "ours", old: "3" }));
      const shared = await client().apply(configMap("shared", { ours: "2", both: "ours" }));
      expect(shared.data).toEqual({ theirs: "1", ours: "2", both: "ours" });
      const empty = await client().apply(configMap("shared", {}));
      expect(empty.data).toEqual({ theirs: "1" });
      expect(managersOf(empty)).toEqual(["perennial Apply", "them Apply"]);
      const left = await client().apply(configMap("shared"));
      expect(left.data).toEqual({ theirs: "1" });
      expect(managersOf(left)).toEqual(["them Apply"]);
      const none = await client().apply(configMap("shared"), { fieldManager: "them" });
      expect(none.data).toBeUndefined();
      expect(managersOf(none)).toEqual([]);
    });

    test("leaves what it named together with another writer until that one lets go, too", async () => {
      await client().apply(configMap("common", { a: "1" }), { fieldManager: "one" });
      await client().apply(configMap("common", { a: "1" }), { fieldManager: "two" });
      expect((await client().apply(configMap("common", {}), { fieldManager: "one" })).data).toEqual({ a: "1" });
      expect((await client().apply(configMap("common", {}), { fieldManager: "two" })).data).toBeUndefined();
    });

    test("leaves what was patched by another name meanwhile", async () => {
      await client().apply(configMap("patched", { a: "1", b: "1" }));
      await client().patch(mapRef("patched"), { data: { a: "2", c: "3" } }, { fieldManager: "person" });
      const left = await client().apply(configMap("patched", {}));
      expect(left.data).toEqual({ a: "2", c: "3" });
      const taken = await client().apply(configMap("patched", { a: "4" }));
      expect(taken.data).toEqual({ a: "4", c: "3" });
      expect(managersOf(taken)).toEqual(["perennial Apply", "person Update"]);
    });

    test("takes an object as it was read", async () => {
      const read = await client().apply(configMap("round", { a: "1" }));
      expect((await client().apply({ ...read, data: { a: "2" } })).data).toEqual({ a: "2" });
    });

    test("of metadata removes labels, annotations and finalizers that are named no longer", async () => {
      await client().patch(
        mapRef((await client().create(configMap("meta"))).metadata.name),
        { metadata: { labels: { kept: "1" } } },
        { fieldManager: "person" },
      );
      const wanted = {
        labels: { a: "1" },
        annotations: { b: "2" },
        finalizers: ["test.perennial.dev/one", "test.perennial.dev/two"],
      };
      await client().apply(configMap("meta", {}, wanted));
      const fewer = await client().apply(configMap("meta", {}, { finalizers: ["test.perennial.dev/two"] }));
      expect(fewer.metadata).toMatchObject({ labels: { kept: "1" }, finalizers: ["test.perennial.dev/two"] });
      expect(fewer.metadata.annotations).toBeUndefined();
      expect((await client().apply(configMap("meta"))).metadata.finalizers).toBeUndefined();
    });

    test("joins lists by the keys of their items", async () => {
      await client().apply(deployment([container("app", "1"), container("old", "1")]));
      await client().apply(deployment([container("side", "1")]), { fieldManager: "them" });
      const joined = await client().apply(deployment([container("first", "1"), container("app", "2")]));
      const images = containersOf(joined).map(({ name, image }) => `${name} ${image}`);
      expect(images.toSorted()).toEqual(["app 2", "first 1", "side 1"]);
      expect(joined.metadata.generation).toBe(3);
    });

    test("of a status does not touch the spec, nor the other way round", async () => {
      await client().apply(widget("default", "apart", { size: 1 }));
      await client().applyStatus({ ...widget("default", "apart", { size: 2 }), status: { ready: true } });
      const read = await client().apply({ ...widget("default", "apart", { size: 3 }), status: { ready: false } });
      expect(read).toMatchObject({ spec: { size: 3 }, status: { ready: true } });
      const cleared = await client().patch(widgetRef("apart"), { status: { ready: null } }, { subresource: "status" });
      expect(cleared.status).toEqual({});
      const none = await failureOf(client().applyStatus({ ...widget("default", "none"), status: { ready: true } }));
      expect(isNotFound(none)).toBe(true);
    });
  });

  describe("a Secret", () => {
    test("keeps text in base64 only", async () => {
      const created = await client().create(textSecret({ a: "ä" }));
      expect(created).toMatchObject({ type: "Opaque", data: { a: Buffer.from("ä").toString("base64") } });
      expect(created["stringData"]).toBeUndefined();
      const changed = await client().patch(refOf(created), { stringData: { b: "2" } });
      expect(changed["data"]).toEqual({ a: Buffer.from("ä").toString("base64"), b: "Mg==" });
    });
  });

  describe("an object with finalizers", () => {
    test("waits for them when it is removed, takes no more, and goes with the last", async () => {
      const finalizers = ["test.perennial.dev/a", "test.perennial.dev/b"];
      await client().create({
        ...widget("default", "held"),
        metadata: { namespace: "default", name: "held", finalizers },
      });
      await client().remove(widgetRef("held"));
      const going = await client().read(Widget, { namespace: "default", name: "held" });
      expect(going?.metadata).toMatchObject({ generation: 2, deletionGracePeriodSeconds: 0, finalizers });
      expect(going?.metadata.deletionTimestamp).toBeDefined();
      await client().remove(widgetRef("held"));
      const more = client().patch(widgetRef("held"), {
        metadata: { finalizers: [...finalizers, "test.perennial.dev/c"] },
      });
      expect(await failureOf(more)).toMatchObject({ status: 422 });
      const again = await failureOf(client().create(widget("default", "held")));
      expect(isAlreadyExists(again)).toBe(true);
      expect(again.retryable).toBe(true);
      await client().patch(widgetRef("held"), { metadata: { finalizers: ["test.perennial.dev/b"] } });
      await client().patch(widgetRef("held"), { metadata: { finalizers: null } });
      expect(await client().read(Widget, { namespace: "default", name: "held" })).toBeUndefined();
    });
  });

  describe("a list", () => {
    test("holds what is selected, by name", async () => {
      for (const [name, tier] of [
        ["l3", "a"],
        ["l1", "b"],
        ["l2", "a"],
      ] as const)
        await client().create(configMap(name, {}, { labels: { listed: "yes", tier } }));
      const names = async (labelSelector: string, fieldSelector?: string) =>
        (
          await client().list(ConfigMap, {
            namespace: "default",
            labelSelector,
            ...(fieldSelector && { fieldSelector }),
          })
        ).map(({ metadata }) => metadata.name);
      expect(await names("listed")).toEqual(["l1", "l2", "l3"]);
      expect(await names("listed=yes,tier==a")).toEqual(["l2", "l3"]);
      expect(await names("listed,tier!=a")).toEqual(["l1"]);
      expect(await names("listed,tier in (a, c)")).toEqual(["l2", "l3"]);
      expect(await names("tier notin (a),listed")).toEqual(["l1"]);
      expect(await names("listed,!tier")).toEqual([]);
      expect(await names("listed", "metadata.name=l2")).toEqual(["l2"]);
      expect(await names("listed", "metadata.name!=l2")).toEqual(["l1", "l3"]);
      const refused = await failureOf(client().list(ConfigMap, { labelSelector: "a b" }));
      expect(refused).toMatchObject({ status: 400, retryable: false });
      const { items, resourceVersion } = await client().snapshot(ConfigMap, { labelSelector: "listed" });
      expect(items[0]).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
      expect(Number(resourceVersion)).toBeGreaterThanOrEqual(
        Math.max(...items.map(({ metadata }) => Number(metadata.resourceVersion))),
      );
      for await (const object of client().metadata(ConfigMap, { labelSelector: "listed" }))
        expect(object["data"]).toBeUndefined();
      await client().removeAll(ConfigMap, { namespace: "default", labelSelector: "listed" });
      expect(await names("listed")).toEqual([]);
    });
  });

  describe("a Namespace", () => {
    test("holds objects from then on, and no new ones when it goes", async () => {
      await client().apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "going" } });
      expect(await client().read(Namespace, { name: "going" })).toMatchObject({
        metadata: { labels: { "kubernetes.io/metadata.name": "going" } },
        status: { phase: "Active" },
      });
      const held = {
        ...widget("going", "held"),
        metadata: { namespace: "going", name: "held", finalizers: ["test.perennial.dev/a"] },
      };
      await client().create(held);
      await client().remove(refTo(Namespace, { name: "going" }));
      const late = await failureOf(
        client().create({ ...configMap("late"), metadata: { namespace: "going", name: "late" } }),
      );
      expect(late).toMatchObject({ status: 403, retryable: false });
      expect(late.causes).toContainEqual(expect.objectContaining({ reason: "NamespaceTerminating" }));
      await client().patch(refTo(Widget, { namespace: "going", name: "held" }), { metadata: { finalizers: null } });
      expect(await failureOf(client().remove(refTo(Namespace, { name: "kube-system" })))).toMatchObject({
        status: 403,
      });
    });
  });

  test("a server that is up says that it is ready", async () => {
    expect(await client().get("/readyz")).toBe("ok");
  });
}

function configMap(name: string, data?: Readonly<Record<string, string>>, metadata: object = {}): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default", ...metadata },
    ...(data && { data }),
  };
}

function textSecret(stringData: Readonly<Record<string, string>>): KubeObject {
  return { apiVersion: "v1", kind: "Secret", metadata: { namespace: "default", name: "text" }, stringData };
}

const mapRef = (name: string) => refTo(ConfigMap, { namespace: "default", name });

const widgetRef = (name: string) => refTo(Widget, { namespace: "default", name });

function managersOf({ metadata }: KubeObject): string[] {
  const entries = (metadata.managedFields ?? []) as unknown as readonly {
    readonly manager: string;
    readonly operation: string;
  }[];
  return entries.map(({ manager, operation }) => `${manager} ${operation}`).toSorted();
}

interface Container {
  readonly name: string;
  readonly image: string;
}

const container = (name: string, image: string): Container => ({ name, image });

function deployment(containers: readonly Container[]): KubeObject {
  const labels = { app: "joined" };
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace: "default", name: "joined" }, spec };
}

const containersOf = (object: KubeObject): readonly Container[] =>
  (object["spec"] as { readonly template: { readonly spec: { readonly containers: readonly Container[] } } }).template
    .spec.containers;
