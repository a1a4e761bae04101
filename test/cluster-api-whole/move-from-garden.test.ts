import { expect } from "vitest";
import type { MovePoint } from "../support/clusterctl-move.ts";
import {
  besideFromGardenTest as test,
  deleteBeside,
  expectBesideAtHome,
  expectBesideGone,
  makeBeside,
  moveThereAndBack,
} from "../support/move-beside.ts";

/** Out of the garden, back into it, and out again: once plainly, and killed while objects are made there and deleted here. */
const points: readonly (MovePoint | undefined)[] = [
  undefined,
  { write: /^POST .*\/shootmachinepools\b/, moment: "after" },
  { write: /^DELETE .*\/shootcontrolplanes\//, moment: "after" },
];

test("clusterctl moves Clusters out of the garden that is their management cluster, and back: the Shoot and what it acts with stay in the garden until the Clusters go", async ({
  lab,
  dns,
}) => {
  const { managements, garden } = lab;
  const [first] = managements;
  expect(first.cluster).toBe(garden);
  await makeBeside(first, garden, dns);
  await expectBesideAtHome(first, "at first");
  const { home, left } = await moveThereAndBack(lab, points);
  expect(left.cluster, "the Clusters end outside of the garden").toBe(garden);
  await deleteBeside(home, garden, dns);
  await expectBesideGone(left, "after the deletion");
});
