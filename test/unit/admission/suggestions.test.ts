import { expect, test } from "vitest";
import { nearest, shorten } from "../../../src/admission/text.ts";
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

test.each([
  ["another spelling", "KUBELET", "kubelet", true],
  ["one letter of a short word", "ab", "ac", true],
  ["a third of the letters", "abcdefghi", "abcdefxyz", true],
  ["more than a third", "abcdefghi", "abcdewxyz", false],
  ["eight letters of as long a word as there is", "x".repeat(64), `${"x".repeat(56)}${"y".repeat(8)}`, true],
  ["nine letters", "x".repeat(64), `${"x".repeat(55)}${"y".repeat(9)}`, false],
])("%s may be a slip, or is one too many", (_, word, known, isMeant) => {
  expect(nearest(word, [known])).toBe(isMeant ? known : undefined);
});

test("what a user wrote is cut off behind 80 characters", () => {
  expect(shorten("x".repeat(80))).toBe(`"${"x".repeat(80)}"`);
  expect(shorten("x".repeat(81))).toBe(`"${"x".repeat(80)}…"`);
});
