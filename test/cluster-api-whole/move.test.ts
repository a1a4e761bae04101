import { expect } from "vitest";
import { moveTest as test } from "../support/move-lab.ts";
import { deleteCluster, expectAtHome, expectNothing, makeCluster, shootOf } from "../support/moved-cluster.ts";

/** Killed while it makes objects on the target, and while it deletes them on the source. */
test("clusterctl moves a Cluster there and back, killed half-way both times, and its Shoot stays as it is until the Cluster goes", async ({
  lab,
}) => {
  const { managements, garden } = lab;
  const [here, there] = managements;
  await makeCluster(here, garden);
  await expectAtHome(here);
  const shoot = await shootOf(garden);

  expect(await lab.move(here, there, { write: /^POST .*\/shootcontrolplanes\b/, moment: "after" })).toMatch(/target/);
  await expectAtHome(there);
  await expectNothing(here);
  expect(await shootOf(garden)).toEqual(shoot);

  expect(await lab.move(there, here, { write: /^DELETE .*\/shootmachinepools\//, moment: "after" })).toMatch(/source/);
  await expectAtHome(here);
  await expectNothing(there);
  expect(await shootOf(garden)).toEqual(shoot);

  await deleteCluster(here, garden);
  await expectNothing(here);
});
