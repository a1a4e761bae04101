import { afterAll, afterEach, beforeEach, describe, expect, vi } from "vitest";
import {
  createKubeClient,
  createReflector,
  Namespace,
  refTo,
  type Change,
  type KubeClient,
  type Reflector,
} from "../../src/kube/index.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { startFaultyProxy, type FaultyProxy } from "../support/faulty-proxy.ts";
import { installWidgets, Widget, widget } from "../support/widget.ts";

let controlPlane: ControlPlane;
let client: KubeClient;
let proxy: FaultyProxy;
let proxied: KubeClient;
let reflector: Reflector<Widget>;
let news: string[];

test.beforeAll(async ({ cluster }) => {
  controlPlane = cluster;
  client = controlPlane.client;
  await installWidgets(client);
  proxy = await startFaultyProxy(controlPlane.tokenKubeconfig);
  proxied = createKubeClient({ file: proxy.kubeconfigFile });
});

afterAll(async () => {
  await proxied?.close();
  await proxy?.close();
});

beforeEach(async () => {
  await client.removeAll(Widget, {});
  news = [];
});

afterEach(async () => {
  proxy.mend();
  await reflector?.stop();
});

/** "added a", "updated a", ... in the order in which they were told. */
function note({ type, object }: Change<Widget>): void {
  news.push(`${type} ${object.metadata.name}`);
}

function apply(name: string, size = 1): Promise<Widget> {
  return client.apply(widget("default", name, { size }));
}

function remove(name: string): Promise<void> {
  return client.remove(refTo(Widget, { namespace: "default", name }));
}

describe("a reflector", () => {
  test("has told and cached what there was when it is synced, and follows what comes", async () => {
    await apply("a");
    reflector = createReflector(client, Widget, { onEvent: note });
    reflector.start();
    await reflector.synced();
    expect(news).toEqual(["added a"]);
    expect(reflector.get("a", "default")?.spec.size).toBe(1);
    expect(reflector.get("a", "default")?.metadata.managedFields).toBeUndefined();

    await apply("b");
    await apply("a", 2);
    await remove("b");
    await eventually(() => news.length === 4);
    expect(news).toEqual(["added a", "added b", "updated a", "deleted b"]);
    expect(reflector.list("default").map(({ metadata }) => metadata.name)).toEqual(["a"]);
    expect(reflector.list("elsewhere")).toEqual([]);
  });

  test("updates its cache before it tells, and tells how the object was before", async () => {
    const seen: unknown[] = [];
    reflector = createReflector(client, Widget, {
      onEvent: ({ object, old }) => {
        seen.push([old?.spec.size, object.spec.size, reflector.get("a", "default")?.spec.size]);
      },
    });
    reflector.start();
    await reflector.synced();
    await apply("a", 1);
    await apply("a", 2);
    await eventually(() => seen.length === 2);
    expect(seen).toEqual([
      [undefined, 1, 1],
      [1, 2, 2],
    ]);
  });

  test("sees only what it selects", async () => {
    reflector = createReflector(client, Widget, { onEvent: note, fieldSelector: "metadata.name=b" });
    reflector.start();
    await reflector.synced();
    await apply("a");
    await apply("b");
    await eventually(() => news.length > 0);
    expect(news).toEqual(["added b"]);
  });

  test("waits for a kind that is not there yet", async () => {
    const type = { apiVersion: "v1", kind: "Gadget" };
    reflector = createReflector(client, type, { onEvent: note });
    const synced = reflector.synced();
    reflector.start();
    await reflector.stop();
    await expect(synced).rejects.toThrow("the watch for Gadget was stopped before its first list");
  });

  test("goes on after a handler threw", async () => {
    reflector = createReflector(client, Widget, {
      onEvent: (event) => {
        note(event);
        throw new Error("the handler is broken");
      },
    });
    reflector.start();
    await reflector.synced();
    await apply("a");
    await apply("a", 2);
    await eventually(() => news.length === 2);
    expect(news).toEqual(["added a", "updated a"]);
  });

  test("tells nothing after it was stopped", async () => {
    reflector = createReflector(proxied, Widget, { onEvent: note });
    reflector.start();
    await reflector.synced();
    await reflector.stop();
    await apply("a");
    const other = createReflector(client, Widget, { onEvent: () => {} });
    other.start();
    await other.synced();
    await other.stop();
    expect(news).toEqual([]);
  });
});

describe("a reflector whose connection breaks", () => {
  test("goes on where it was, without a new list, when only the connection was lost", async () => {
    await apply("a");
    reflector = createReflector(proxied, Widget, { onEvent: note });
    reflector.start();
    await reflector.synced();
    await eventually(() => proxy.requests.some((line) => line.includes("watch=true")));
    const before = proxy.requests.length;
    proxy.cut();
    await remove("a");
    await apply("b");
    proxy.mend();
    await eventually(() => news.length === 3);
    expect(news).toEqual(["added a", "deleted a", "added b"]);
    expect(proxy.requests.slice(before).some((line) => line.includes("limit=500"))).toBe(false);
  });

  test("says whether what it knows is current: not while the connection is lost, nor after a long silence", async () => {
    reflector = createReflector(proxied, Widget, { onEvent: note });
    expect(reflector.isCurrent()).toBe(false);
    reflector.start();
    await reflector.synced();
    expect(reflector.isCurrent()).toBe(true);
    const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now() + 151_000);
    expect(reflector.isCurrent()).toBe(false);
    clock.mockRestore();
    proxy.cut();
    await eventually(() => !reflector.isCurrent());
    proxy.mend();
    await apply("a");
    await eventually(() => reflector.isCurrent());
    expect(reflector.get("a", "default")).toBeDefined();
  });

  test("survives a SIGKILL of the API server and tells what changed afterwards", async () => {
    await apply("a");
    reflector = createReflector(client, Widget, { onEvent: note });
    reflector.start();
    await reflector.synced();
    await controlPlane.kill();
    await controlPlane.restart();
    await eventually(() => apply("b"));
    await remove("a");
    await eventually(() => news.length === 3);
    // In one order when the history is still there, in the other when a new list is.
    expect(news.toSorted()).toEqual(["added a", "added b", "deleted a"]);
  });

  test("lists again when the server no longer has the history, and tells every difference", async () => {
    for (const name of ["kept", "changed", "deleted", "remade"]) await apply(name);
    reflector = createReflector(proxied, Widget, { onEvent: note });
    reflector.start();
    await reflector.synced();
    news = [];
    const before = proxy.requests.length;
    proxy.cut();
    await apply("changed", 2);
    await remove("deleted");
    await remove("remade");
    await apply("remade");
    await apply("new");
    // A new API server knows nothing of the past, and the compaction leaves nothing to ask etcd for.
    const { metadata } = await apply("new", 2);
    await controlPlane.etcdctl("compaction", String(metadata.resourceVersion));
    await controlPlane.restart();
    proxy.mend();
    await eventually(() => news.length === 5);
    expect(news.toSorted()).toEqual([
      "added new",
      "added remade",
      "deleted deleted",
      "deleted remade",
      "updated changed",
    ]);
    expect(proxy.requests.slice(before).some((line) => line.includes("limit=500"))).toBe(true);
    expect(
      reflector
        .list()
        .map(({ metadata }) => metadata.name)
        .toSorted(),
    ).toEqual(["changed", "kept", "new", "remade"]);
  });

  test("waits as long as a throttling server asks", async () => {
    const throttle = { status: 429, headers: { "retry-after": "1" } };
    proxy.fail(/GET .*widgets/, throttle, throttle);
    const startedAt = Date.now();
    await apply("a");
    reflector = createReflector(proxied, Widget, { onEvent: note });
    reflector.start();
    await reflector.synced();
    expect(Date.now() - startedAt).toBeGreaterThan(1_900);
    expect(news).toEqual(["added a"]);
  });

  // The second is what a server says whose etcd was restored from a backup: it would say so for ever.
  test.each([
    [410, "Expired", "too old resource version: 1 (9)"],
    [504, "Timeout", "Too large resource version: 99, current: 9"],
  ])("lists again after an error %i %s inside the stream", async (code, reason, message) => {
    const error = { type: "ERROR", object: { kind: "Status", code, reason, message } };
    proxy.fail(/watch=true/, { status: 200, body: error });
    const before = proxy.requests.length;
    reflector = createReflector(proxied, Widget, { onEvent: note });
    reflector.start();
    await reflector.synced();
    await apply("a");
    await eventually(() => news.length === 1);
    expect(proxy.requests.slice(before).filter((line) => line.includes("limit=500"))).toHaveLength(2);
  });

  test("does not ask in a tight loop when the server ends every watch at once", async () => {
    const empty = { status: 200 };
    proxy.fail(/watch=true/, ...Array.from({ length: 3 }, () => empty));
    const startedAt = Date.now();
    reflector = createReflector(proxied, Widget, { onEvent: note });
    reflector.start();
    await reflector.synced();
    await apply("a");
    await eventually(() => news.length === 1);
    expect(Date.now() - startedAt).toBeGreaterThan(250 + 500);
  });
});

describe("a reflector of metadata only", () => {
  test("lists and watches nothing else, under the kind's own name", async () => {
    await apply("listed", 3);
    reflector = createReflector(proxied, Widget, { metadataOnly: true, onEvent: note });
    reflector.start();
    await reflector.synced();
    await apply("watched", 3);
    await eventually(() => news.length === 2);
    expect(news).toEqual(["added listed", "added watched"]);
    for (const found of reflector.list()) {
      expect(found).toMatchObject({ apiVersion: Widget.apiVersion, kind: Widget.kind });
      expect(found.spec).toBeUndefined();
    }
    await remove("listed");
    await eventually(() => reflector.list().length === 1);
  });
});

describe("many reflectors", () => {
  test("leave connections for calls: 40 watches and a call at the same time", async () => {
    const many = Array.from({ length: 40 }, () => createReflector(proxied, Widget, { onEvent: note }));
    for (const each of many) each.start();
    await Promise.all(many.map((each) => each.synced()));
    await eventually(() => proxied.read(Namespace, { name: "default" }));
    await apply("a");
    await eventually(() => news.length === 40);
    await Promise.all(many.map((each) => each.stop()));
  });
});
