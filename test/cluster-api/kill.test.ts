import { expect } from "vitest";
import { killTest as test, runKilled } from "../support/kill-lab.ts";
import { creation } from "../support/kill-scenarios.ts";

/** A sample of the whole matrix in test/cluster-api-whole: where most would be lost. */
test("the process that is killed after the garden has made the Shoot goes on to the same end, with one Shoot", async ({
  lab,
}) => {
  const write = /^POST .*\/shoots\b/;
  expect(await runKilled(lab, creation, "kill-after-the-shoot", { write, moment: "after" })).toMatch(write);
});
