import { describe, expect, it } from "vitest";
import { createAnswers } from "../../../src/activities/survey/answers.ts";
import type { KubeObject } from "../../../src/api/schema/meta.ts";

const HOUR = 3_600_000;

const configMap = (name: string, data: object = { key: "value" }, metadata: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "shoot--dev--a", ...metadata },
  data,
});

const present = (name: string, resourceVersion = "7", uid = "0a1b2c3d-0000") =>
  configMap(name, undefined, { resourceVersion, uid });

describe("an answer that an apply changes nothing", () => {
  const answers = createAnswers();
  answers.keep("seed", present("a"), configMap("a"));

  it("holds while the same is wanted of the same version", () => {
    expect(answers.hold("seed", present("a"), configMap("a"))).toBe(true);
  });

  it.each<[string, string, KubeObject, KubeObject]>([
    ["of another version", "seed", present("a", "8"), configMap("a")],
    ["of an object made anew", "seed", present("a", "7", "4e5f6071-0000"), configMap("a")],
    ["of an object that no server has given a version", "seed", configMap("a"), configMap("a")],
    ["where something else is wanted", "seed", present("a"), configMap("a", { key: "other" })],
    ["of an object of another name", "seed", present("b"), configMap("b")],
    ["in another cluster", "garden", present("a"), configMap("a")],
  ])("does not hold %s", (_, cluster, existing, wanted) => {
    expect(answers.hold(cluster, existing, wanted)).toBe(false);
  });

  it("is not kept of an object that no server has given a version", () => {
    answers.keep("shoot", configMap("a"), configMap("a"));
    expect(answers.hold("shoot", configMap("a"), configMap("a"))).toBe(false);
  });
});

const names = Array.from({ length: 200 }, (_, index) => `map-${index}`);

it("holds for 18 to 24 hours, and answers that were given at once do not end at once", () => {
  let time = 0;
  const answers = createAnswers({ now: () => time });
  for (const name of names) answers.keep("seed", present(name), configMap(name));
  const holding = (hours: number) => {
    time = hours * HOUR;
    return names.filter((name) => answers.hold("seed", present(name), configMap(name))).length;
  };
  expect(holding(17.9)).toBe(200);
  expect(holding(21)).toBeGreaterThan(60);
  expect(holding(21)).toBeLessThan(140);
  expect(holding(24)).toBe(0);
});

it("forgets the oldest answers where there are too many", () => {
  const answers = createAnswers({ most: 100 });
  for (const name of names) answers.keep("seed", present(name), configMap(name));
  const held = names.filter((name) => answers.hold("seed", present(name), configMap(name)));
  expect(held).toEqual(names.slice(100));
});
