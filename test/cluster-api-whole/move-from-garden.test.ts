import { expect } from "vitest";
import type { MovePoint } from "../support/clusterctl-move.ts";
import {
  besideFromGardenTest as test,
  deleteBeside,
  expectBesideAtHome,
  expectBesideGone,
  gardenOf,
  makeBeside,
  playOthers,
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
  let [from, to] = managements;
  expect(from.cluster).toBe(garden);
  await makeBeside(from, garden, dns);
  await expectBesideAtHome(from, "at first");
  const before = await gardenOf(garden);
  for (const point of points) {
    const died = await lab.move(from, to, point);
    const when = point === undefined ? "plainly" : `after SIGKILL ${point.moment} ${died}`;
    if (point !== undefined) expect(died, String(point.write)).toBeDefined();
    await playOthers(to, garden);
    await expectBesideAtHome(to, when);
    await expectBesideGone(from, when);
    expect(await gardenOf(garden), when).toEqual(before);
    [from, to] = [to, from];
  }
  expect(to.cluster, "the Clusters end outside of the garden").toBe(garden);
  await deleteBeside(from, garden, dns);
  await expectBesideGone(to, "after the deletion");
});
