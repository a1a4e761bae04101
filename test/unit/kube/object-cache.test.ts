import { expect, test } from "vitest";
import type { KubeObject } from "../../../src/api/schema/meta.ts";
import { createObjectCache } from "../../../src/kube/object-cache.ts";

function object(name: string, resourceVersion: string, uid = `uid of ${name}`): KubeObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "ns", name, uid, resourceVersion, managedFields: [{}] },
  };
}

test("a list tells every difference to what was known, and leaves the cache equal to it", () => {
  const cache = createObjectCache<KubeObject>();
  for (const name of ["same", "changed", "gone", "remade"]) cache.take("ADDED", object(name, "1"));
  const news = [
    ...cache.replaceAll([
      object("same", "1"),
      object("changed", "2"),
      object("remade", "3", "other"),
      object("new", "4"),
    ]),
  ];
  expect(news.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
    "deleted gone",
    "updated changed",
    "deleted remade",
    "added remade",
    "added new",
  ]);
  expect(cache.list("ns").map(({ metadata }) => metadata.name)).toEqual(["same", "changed", "remade", "new"]);
});

test("each change of a list is in the cache when it is told", () => {
  const cache = createObjectCache<KubeObject>();
  for (const { object: told } of cache.replaceAll([object("a", "1"), object("b", "2")])) {
    expect(cache.get(told.metadata.name, "ns")).toBeDefined();
    if (told.metadata.name === "a") expect(cache.get("b", "ns")).toBeUndefined();
  }
});

test("listed objects of which the version was not kept are taken, and may have changed with each list", () => {
  const cache = createObjectCache<KubeObject>();
  const { resourceVersion: _version, ...metadata } = object("a", "1").metadata;
  const versionless = { ...object("a", "1"), metadata };
  const types = () => [...cache.replaceAll([versionless])].map(({ type }) => type);
  expect(types()).toEqual(["added"]);
  expect(cache.get("a", "ns")).toBeDefined();
  expect(types()).toEqual(["updated"]);
});

test("an event that says nothing new is not told", () => {
  const cache = createObjectCache<KubeObject>();
  expect(cache.take("ADDED", object("a", "1"))).toHaveLength(1);
  expect(cache.take("MODIFIED", object("a", "1"))).toEqual([]);
  expect(cache.take("DELETED", object("b", "2"))).toEqual([]);
});

test("objects without a namespace have names of their own", () => {
  const cache = createObjectCache<KubeObject>();
  cache.take("ADDED", { apiVersion: "v1", kind: "Node", metadata: { name: "ns/a", resourceVersion: "1" } });
  cache.take("ADDED", { apiVersion: "v1", kind: "Node", metadata: { name: "b", resourceVersion: "2" } });
  expect(cache.get("b")?.metadata.name).toBe("b");
  expect(cache.get("b", "ns")).toBeUndefined();
});

test("managedFields are not kept", () => {
  const cache = createObjectCache<KubeObject>();
  cache.take("ADDED", object("a", "1"));
  expect(cache.get("a", "ns")?.metadata).not.toHaveProperty("managedFields");
});

test("of an object only what is wanted is kept, and all of it is told", () => {
  const cache = createObjectCache<KubeObject>(({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }));
  const [change] = cache.take("ADDED", { ...object("a", "1"), spec: { large: true } });
  expect(change?.object).toHaveProperty("spec");
  expect(cache.get("a", "ns")).not.toHaveProperty("spec");
});

test("of a list, an object that is reduced already is not reduced again, unless that is still to be done", () => {
  const cache = createObjectCache<KubeObject>(() => expect.fail("reduced again"));
  expect([...cache.replaceAll([object("a", "1")])]).toHaveLength(1);
  const [change] = cache.replaceAll([{ ...object("a", "2"), spec: { large: true } }], ({ spec: _, ...rest }) => rest);
  expect(change?.object).toHaveProperty("spec");
  expect(cache.get("a", "ns")).not.toHaveProperty("spec");
});
