import { expect } from "vitest";
import { clusterApiTest as test } from "../support/cluster-api.ts";
import { tryHistories } from "../support/endpoint-trial.ts";

test("fifty histories beside the core manager end with one winner, and a new process finds nothing to write", async ({
  cluster,
  core,
}) => {
  expect(core.output()).not.toBe("");
  expect(
    await tryHistories(cluster, { seeds: Array.from({ length: 50 }, (_, index) => index + 1), atOnce: 8 }),
  ).toEqual([]);
});
