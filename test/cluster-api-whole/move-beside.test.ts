import { expect } from "vitest";
import {
  besideTest as test,
  deleteBeside,
  expectBesideAtHome,
  expectBesideGone,
  makeBeside,
  moveThereAndBack,
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
  const [first] = managements;
  await makeBeside(first, garden, dns);
  await expectBesideAtHome(first, "at first");
  const name = watchName(dns);
  const { home, left } = await moveThereAndBack(lab, [undefined, ...points]);
  const { asked, wrong } = await name.end();
  console.log(`the name was asked for ${asked} times while ${points.length + 1} moves were made`);
  expect(wrong).toEqual([]);
  await deleteBeside(home, garden, dns);
  await expectBesideGone(left, "after the deletion");
});
