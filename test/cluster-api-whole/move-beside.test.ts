import { expect } from "vitest";
import {
  besideTest as test,
  deleteBeside,
  expectBesideAtHome,
  expectBesideGone,
  gardenOf,
  makeBeside,
  playOthers,
  watchName,
} from "../support/move-beside.ts";
import type { MovePoint } from "../support/clusterctl-move.ts";

/** Where most would be lost: as objects that have something beside the management cluster are made there, and deleted here. */
const points: readonly MovePoint[] = [
  { write: /^POST .*\/shootclusters\b/, moment: "after" },
  { write: /^POST .*\/endpointrecords\b/, moment: "after" },
  { write: /^DELETE .*\/endpointrecords\//, moment: "before" },
  { write: /^DELETE .*\/endpointrecords\//, moment: "after" },
  { write: /^DELETE .*\/shootclusters\//, moment: "after" },
];

test("clusterctl moves credentials, a domain and a record, killed or not: the garden stays as it is, and the name resolves all the time", async ({
  lab,
  dns,
}) => {
  const { managements, garden } = lab;
  let [from, to] = managements;
  await makeBeside(from, garden, dns);
  await expectBesideAtHome(from, "at first");
  const before = await gardenOf(garden);
  const name = watchName(dns);
  for (const point of [undefined, ...points]) {
    const died = await lab.move(from, to, point);
    const when = point === undefined ? "plainly" : `after SIGKILL ${point.moment} ${died}`;
    if (point !== undefined) expect(died, String(point.write)).toBeDefined();
    await playOthers(to, garden);
    await expectBesideAtHome(to, when);
    await expectBesideGone(from, when);
    expect(await gardenOf(garden), when).toEqual(before);
    [from, to] = [to, from];
  }
  const { asked, wrong } = await name.end();
  console.log(`the name was asked for ${asked} times while ${points.length + 1} moves were made`);
  expect(wrong).toEqual([]);
  await deleteBeside(from, garden, dns);
  await expectBesideGone(to, "after the deletion");
});
