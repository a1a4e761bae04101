import { expect, test } from "vitest";
import { setCondition } from "../../../src/kube/status.ts";
import { microTime, now } from "../../../src/kube/time.ts";

const available = { type: "Available", status: "True", reason: "Up", message: "It is up." } as const;
const healthy = { type: "Healthy", status: "True", reason: "Fine", message: "It is fine." } as const;

test("a new condition is added with both times", () => {
  expect(setCondition(undefined, available, "t1")).toEqual([
    { ...available, lastTransitionTime: "t1", lastUpdateTime: "t1" },
  ]);
});

test("a condition that says the same again stays as it is, in its place", () => {
  const before = setCondition(setCondition([], available, "t1"), healthy, "t1");
  expect(setCondition(before, available, "t2")).toEqual(before);
});

test("another message moves the update time only, another status both", () => {
  const before = setCondition([], available, "t1");
  const reworded = setCondition(before, { ...available, message: "Still up." }, "t2");
  expect(reworded).toMatchObject([{ message: "Still up.", lastTransitionTime: "t1", lastUpdateTime: "t2" }]);
  const down = setCondition(reworded, { ...available, status: "False" }, "t3");
  expect(down).toMatchObject([{ status: "False", lastTransitionTime: "t3", lastUpdateTime: "t3" }]);
});

test("codes come and go with the update", () => {
  const failed = { ...available, status: "False", codes: ["ERR_INFRA_UNAUTHENTICATED"] } as const;
  const before = setCondition([], { ...failed, codes: [...failed.codes] }, "t1");
  const { codes: _, ...recovered } = failed;
  const after = setCondition(before, recovered, "t2");
  expect(after[0]).not.toHaveProperty("codes");
  expect(after).toMatchObject([{ lastTransitionTime: "t1", lastUpdateTime: "t2" }]);
});

test("times are written as Kubernetes reads them", () => {
  const date = new Date("2026-01-31T12:00:00.123Z");
  expect(now(date)).toBe("2026-01-31T12:00:00Z");
  expect(microTime(date)).toBe("2026-01-31T12:00:00.123000Z");
});
