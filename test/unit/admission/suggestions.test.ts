import { expect, test } from "vitest";
import { nearest } from "../../../src/admission/text.ts";
import { editDistance } from "../../../src/api/schema/edit-distance.ts";

test.each([
  ["", "", 0],
  ["a", "", 1],
  ["", "ab", 2],
  ["kitten", "sitting", 3],
  ["kubelet", "kublet", 1],
])("from %j to %j it is %d letters", (one, other, distance) => {
  expect(editDistance(one, other)).toBe(distance);
  expect(editDistance(one, other, distance)).toBe(distance);
  if (distance > 0) expect(editDistance(one, other, distance - 1)).toBeGreaterThan(distance - 1);
});

test("the nearest of the known words is meant, and none for a word that is too long", () => {
  expect(nearest("Kublet", ["Kube", "Kubelet", "Kubectl"])).toBe("Kubelet");
  expect(nearest("somethingElse", ["Kubelet"])).toBeUndefined();
  expect(nearest("x".repeat(65), ["x".repeat(64)])).toBeUndefined();
});
