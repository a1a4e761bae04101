import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createDirectoryClient, type DirectoryClient } from "../../../../src/kube/directory/directory-client.ts";
import { ClusterRole, ConfigMap, Namespace, refTo, Secret, type KubeClient } from "../../../../src/kube/index.ts";
import { failureOf } from "../../../support/client-contract.ts";
import { Widget, widget } from "../../../support/widget.ts";

let parent: string;
let directory: string;
let client: DirectoryClient;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "files-"));
  directory = join(parent, "garden");
  client = createDirectoryClient({ directory });
});

afterEach(() => rm(parent, { recursive: true, force: true }));

const again = (): KubeClient => createDirectoryClient({ directory });

function configMap(name: string, data: Readonly<Record<string, string>> = {}): ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name }, data };
}

const role = (name: string): ClusterRole => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name },
  rules: [],
});

async function handWrite(path: string, text: string): Promise<string> {
  const file = join(directory, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}

describe("a file", () => {
  test("bears the name of its object, is YAML, and is for its owner alone, as are the folders", async () => {
    await client.apply(configMap("plain", { text: "a\nb\n" }));
    await client.apply(role("system:node"));
    await client.apply(widget("default", "w", { size: 1 }));
    const files = (await readdir(directory, { recursive: true, withFileTypes: true })).filter((entry) =>
      entry.isFile(),
    );
    expect(files.map((entry) => join(entry.parentPath, entry.name).slice(directory.length)).toSorted()).toEqual([
      "/.resource-version",
      "/_cluster/ClusterRole.rbac.authorization.k8s.io/system:node.yaml",
      "/default/ConfigMap/plain.yaml",
      "/default/Widget.test.perennial.dev/w.yaml",
    ]);
    for (const entry of files) {
      expect((await stat(join(entry.parentPath, entry.name))).mode & 0o777).toBe(0o600);
      expect((await stat(entry.parentPath)).mode & 0o777).toBe(0o700);
    }
    expect(await readFile(join(directory, "default/ConfigMap/plain.yaml"), "utf8")).toContain(
      "  text: |\n    a\n    b\n",
    );
  });

  test("is within the directory, whatever the object is called", async () => {
    const names = ["../../outside", "a/b", "a\0b", "..", ".", "", "%2e%2e", "\ud800"];
    for (const name of names)
      for (const call of [
        client.apply(role(name)),
        client.read(ClusterRole, { name }),
        client.remove(refTo(ClusterRole, { name })),
      ])
        expect(await failureOf(call)).toMatchObject({ status: 400, retryable: false });
    for (const namespace of ["..", "../x", ".", "a/b", "", "_cluster"])
      expect(await failureOf(client.read(Secret, { namespace, name: "a" }))).toMatchObject({ status: 400 });
    for (const type of [
      { apiVersion: "../..", kind: "A" },
      { apiVersion: "a/../v1", kind: "A" },
      { apiVersion: "v1", kind: "../A" },
    ])
      expect(await failureOf(client.list(type))).toMatchObject({ status: 400 });
    expect(await readdir(parent)).toEqual([]);
  });

  test("holds an object of any length of name, and one that begins with a dot", async () => {
    const names = ["a".repeat(253), `${"a".repeat(252)}b`, ".hidden", "a:b c"];
    for (const name of names) await client.create(role(name));
    expect((await again().list(ClusterRole)).map(({ metadata }) => metadata.name).toSorted()).toEqual(names.toSorted());
  });

  test("that a kill has left half written is not seen, and goes with the next write", async () => {
    await client.apply(configMap("whole"));
    const draft = await handWrite("default/ConfigMap/.0123456789abcdef.draft", "apiVersion: v1\nkind: Conf");
    expect(await again().list(ConfigMap)).toHaveLength(1);
    expect(await stat(draft)).toBeDefined();
    await again().apply(configMap("other"));
    await expect(stat(draft)).rejects.toThrow("ENOENT");
  });

  test("that is no object is named by the error, and nothing of it is quoted", async () => {
    const file = await handWrite("default/Secret/bad.yaml", "apiVersion: v1\nkind: Secret\ndata: {key: hunter2\n");
    const failure = await failureOf(client.read(Secret, { namespace: "default", name: "bad" }));
    expect(failure.message).toMatch(new RegExp(`^cannot read Secret default/bad: ${file} is not YAML: see line \\d`));
    expect(failure.message).not.toContain("hunter2");
    expect(failure.retryable).toBe(false);
    await writeFile(file, "apiVersion: v1\nkind: Secret\nmetadata: {namespace: default, name: other}\n");
    await expect(client.read(Secret, { namespace: "default", name: "bad" })).rejects.toThrow(
      "move it to its place or mend it",
    );
  });

  test("that the disk refuses fails the call, which may be tried again", async () => {
    await mkdir(directory);
    await writeFile(join(directory, "default"), "in the way");
    const failure = await failureOf(client.apply(configMap("a")));
    expect(failure).toMatchObject({ status: 500, reason: "InternalError", retryable: true });
    expect(failure.message).toMatch(/^cannot apply ConfigMap default\/a: E(EXIST|NOTDIR)/);
  });

  test("that a person wrote is an object with a uid from its first reading on", async () => {
    const text =
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  namespace: garden-dev\n  name: hand\ndata: {day: 2026-01-31}\n";
    await handWrite("garden-dev/ConfigMap/hand.yaml", text);
    const read = await client.read(ConfigMap, { namespace: "garden-dev", name: "hand" });
    expect(read?.metadata.uid).toBeDefined();
    expect(await again().list(ConfigMap)).toEqual([read]);
    await client.apply({ ...configMap("beside"), metadata: { namespace: "garden-dev", name: "beside" } });
  });
});

describe("a process that only reads", () => {
  test("finds nothing where no directory is, and makes none", async () => {
    expect(await client.read(ConfigMap, { namespace: "default", name: "a" })).toBeUndefined();
    expect(await client.snapshot(ConfigMap)).toEqual({ items: [], resourceVersion: "0" });
    expect(await client.all()).toEqual([]);
    expect(await readdir(parent)).toEqual([]);
  });
});

describe("another process", () => {
  test("goes on with the objects and their owners, and with versions that none has had", async () => {
    const first = await client.apply(configMap("kept", { a: "1", b: "1" }));
    const second = await again().apply(configMap("kept", { a: "2" }));
    expect(second.data).toEqual({ a: "2" });
    expect(second.metadata.uid).toBe(first.metadata.uid);
    expect(Number(second.metadata.resourceVersion)).toBeGreaterThan(Number(first.metadata.resourceVersion));
    await again().remove(refTo(ConfigMap, { namespace: "default", name: "kept" }));
    const third = await again().apply(configMap("kept"));
    expect(Number(third.metadata.resourceVersion)).toBeGreaterThan(Number(second.metadata.resourceVersion));
    expect(third.metadata.uid).not.toBe(first.metadata.uid);
  });
});

describe("all objects", () => {
  test("come with Namespaces first, then definitions of kinds", async () => {
    await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "own" } });
    await client.apply({ ...configMap("a"), metadata: { namespace: "own", name: "a" } });
    await client.apply(role("r"));
    await client.apply({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "widgets.test.perennial.dev" },
    });
    const kinds = (await client.all()).map(({ kind }) => kind);
    expect(kinds.slice(0, 2)).toEqual(["Namespace", "CustomResourceDefinition"]);
    expect(kinds.slice(2).toSorted()).toEqual(["ClusterRole", "ConfigMap"]);
    expect((await client.types()).map(({ plural, namespaced }) => [plural, namespaced])).toContainEqual([
      "configmaps",
      true,
    ]);
  });

  test("of a Namespace go with it, and it goes last", async () => {
    await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "own" } });
    await client.apply({ ...configMap("a"), metadata: { namespace: "own", name: "a" } });
    const held = {
      ...widget("own", "held"),
      metadata: { namespace: "own", name: "held", finalizers: ["test.perennial.dev/a"] },
    };
    await client.apply(held);
    await client.remove(refTo(Namespace, { name: "own" }));
    expect((await client.all()).map(({ kind }) => kind)).toEqual(["Namespace", "Widget"]);
    expect((await client.read(Namespace, { name: "own" }))?.["status"]).toEqual({ phase: "Terminating" });
    await client.patch(refTo(Widget, { namespace: "own", name: "held" }), { metadata: { finalizers: null } });
    expect(await client.all()).toEqual([]);
  });
});

describe("what a directory has not got", () => {
  test("it says: watches, subresources, paths of a server", async () => {
    const watch = client.watch(ConfigMap, { resourceVersion: "1", signal: new AbortController().signal });
    await expect(watch[Symbol.asyncIterator]().next()).rejects.toThrow(
      "cannot watch ConfigMap: a directory has no watch: it takes an API server",
    );
    const ref = { apiVersion: "v1", kind: "ServiceAccount", namespace: "default", name: "a" };
    await expect(client.createSubresource(ref, "token", configMap("a"))).rejects.toThrow("a directory has no token");
    expect(await failureOf(client.get("/version"))).toMatchObject({ status: 404 });
  });
});
