import { expect, test } from "vitest";
import type { KubeObject } from "../../../src/api/index.ts";
import { indexBy, type Change, type Reflector } from "../../../src/kube/index.ts";

const objectOf = (name: string, word?: string, namespace = "fleet"): KubeObject => ({
  ...{ apiVersion: "v1", kind: "ConfigMap" },
  metadata: { name, namespace, ...(word === undefined ? {} : { labels: { word } }) },
});

/** A watch that a test plays, and an index of it by a label. */
function played() {
  const known = new Map<string, KubeObject>();
  let hear: (change: Change<KubeObject>) => unknown = () => undefined;
  const watch: Pick<Reflector<KubeObject>, "get" | "listen"> = {
    get: (name, namespace) => known.get(`${namespace}/${name}`),
    listen: (listener) => void (hear = listener),
  };
  const find = indexBy(watch, ({ metadata }) => metadata.labels?.["word"]);
  const tell = (type: Change<KubeObject>["type"], object: KubeObject) => {
    const id = `${object.metadata.namespace}/${object.metadata.name}`;
    if (type === "deleted") known.delete(id);
    else known.set(id, object);
    hear({ type, object });
  };
  return { tell, namesOf: (word: string) => find(word).map(({ metadata }) => metadata.name) };
}

test("an index finds each object by its word alone, in whichever namespace it is", () => {
  const { tell, namesOf } = played();
  tell("added", objectOf("one", "a"));
  tell("added", objectOf("two", "b"));
  tell("added", objectOf("three", "a", "elsewhere"));
  tell("added", objectOf("four"));
  expect(namesOf("a")).toEqual(["one", "three"]);
  expect(namesOf("b")).toEqual(["two"]);
  expect(namesOf("c")).toEqual([]);
});

test("an index follows an object whose word changes, and forgets one that goes, also where that says another word by then", () => {
  const { tell, namesOf } = played();
  tell("added", objectOf("one", "a"));
  tell("updated", objectOf("one", "b"));
  expect([namesOf("a"), namesOf("b")]).toEqual([[], ["one"]]);
  tell("updated", objectOf("one"));
  expect(namesOf("b")).toEqual([]);
  tell("updated", objectOf("one", "c"));
  tell("deleted", objectOf("one", "d"));
  expect([namesOf("c"), namesOf("d")]).toEqual([[], []]);
});

test("an object that bears several words is found by each, and by none that it has lost", () => {
  const known = new Map<string, KubeObject>();
  let hear: (change: Change<KubeObject>) => unknown = () => undefined;
  const watch: Pick<Reflector<KubeObject>, "get" | "listen"> = {
    get: (name) => known.get(name),
    listen: (listener) => void (hear = listener),
  };
  const find = indexBy(watch, ({ metadata }) => metadata.labels?.["word"]?.split("."));
  const tell = (object: KubeObject) => {
    known.set(object.metadata.name, object);
    hear({ type: "updated", object });
  };
  const namesOf = (word: string) => find(word).map(({ metadata }) => metadata.name);
  tell(objectOf("one", "a.b"));
  tell(objectOf("two", "b"));
  expect([namesOf("a"), namesOf("b")]).toEqual([["one"], ["one", "two"]]);
  tell(objectOf("one", "b.c"));
  expect([namesOf("a"), namesOf("b").sort(), namesOf("c")]).toEqual([[], ["one", "two"], ["one"]]);
});
