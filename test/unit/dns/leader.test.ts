import { describe, expect, test } from "vitest";
import { formatLeader, isLeader, parseLeader } from "../../../src/dns/index.ts";

describe("a leadership record", () => {
  test("keeps to GEP-1's form of the value", () => {
    expect(formatLeader({ seed: "seed-01", epoch: 7 })).toEqual(["Seed=seed-01", "Epoch=7"]);
    expect(formatLeader({ seed: "seed-01", epoch: 7, shoot: "uid-1" })).toEqual([
      "Seed=seed-01",
      "Epoch=7",
      "Shoot=uid-1",
    ]);
  });

  test.each([
    [[]],
    [["Seed=a"]],
    [["Epoch=1"]],
    [["Seed=", "Epoch=1"]],
    [["Seed=a", "Epoch=0"]],
    [["Seed=a", "Epoch=01"]],
    [["Seed=a", "Epoch=1.5"]],
    [["Seed=a", "Epoch=-1"]],
    [["Seed=a", "Epoch=1e3"]],
    [["Seed=a", "Seed=b", "Epoch=1"]],
    [["Seed=a", "Epoch=1", "Epoch=2"]],
    [["Seed=a Epoch=1"]],
    [["Seed=a", "Epoch=1", "Shoot="]],
    [["Seed=a", "Epoch=1", "Shoot=1", "Shoot=2"]],
  ])("of %j names no seed", (values) => {
    expect(parseLeader(values)).toBeUndefined();
  });
});

test("leaders of two Shoots are two leaders; one that says of no Shoot may be either's", () => {
  const [one, other] = [
    { seed: "a", epoch: 1, shoot: "1" },
    { seed: "a", epoch: 1, shoot: "2" },
  ];
  expect(isLeader(one, other)).toBe(false);
  expect(isLeader(one, one)).toBe(true);
  for (const leader of [one, other]) expect(isLeader(leader, { seed: "a", epoch: 1 })).toBe(true);
  for (const leader of [one, other]) expect(isLeader({ seed: "a", epoch: 1 }, leader)).toBe(true);
});

test.each([
  ["another seed's in the same epoch", { seed: "b", epoch: 1 }],
  ["another epoch's of the same seed", { seed: "a", epoch: 2 }],
  ["none", undefined],
])("a leader is not %s", (_, other) => {
  expect(isLeader(other, { seed: "a", epoch: 1 })).toBe(false);
});
