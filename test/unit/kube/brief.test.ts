import { expect, test } from "vitest";
import { inBrief } from "../../../src/kube/brief.ts";

const object = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    ...{
      name: "a",
      namespace: "b",
      uid: "u",
      resourceVersion: "1",
      generation: 2,
      deletionTimestamp: "2026-01-01T00:00:00Z",
    },
    labels: { x: "y".repeat(63) },
    annotations: { wanted: "1", large: "x".repeat(200_000), other: "1" },
    finalizers: ["z".repeat(200_000)],
  },
  spec: { kept: true },
};

test("of metadata, what tells an object from others is left, and the annotations that are named", () => {
  expect(inBrief(object, ["wanted", "missing"])).toEqual({
    ...object,
    metadata: {
      ...{ name: "a", namespace: "b", uid: "u", resourceVersion: "1", generation: 2 },
      deletionTimestamp: "2026-01-01T00:00:00Z",
      annotations: { wanted: "1" },
    },
  });
});

test("an annotation that is named is left only where it is short", () => {
  expect(JSON.stringify(inBrief(object, ["large"])).length).toBeLessThan(300);
});
