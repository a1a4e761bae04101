import { expect } from "vitest";
import { killTest as test, runKilled, type KillPoint } from "../support/kill-lab.ts";
import { creation, deletion } from "../support/kill-scenarios.ts";

/** A sample of the whole matrix in test/cluster-api-whole: where most would be lost. */
test.for<[string, typeof creation, KillPoint]>([
  ["after the garden has made the Shoot", creation, { write: /^POST .*\/shoots\b/, moment: "after" }],
  [
    "before it says the endpoint, with the core manager",
    creation,
    { write: /^POST .*\/clusterendpoints\b/, moment: "before", withManager: true },
  ],
  ["before it deletes the Shoot", deletion, { write: /^DELETE .*\/shoots\//, moment: "before" }],
])("the process that is killed %s goes on to the same end, with one Shoot", async ([at, scenario, where], { lab }) => {
  const name = at.replaceAll(/[^a-z]+/g, "-").slice(0, 12);
  expect(await runKilled(lab, scenario, `kill-${name}-${where.moment}`.replaceAll(/-+/g, "-"), where)).toMatch(
    where.write as RegExp,
  );
});
