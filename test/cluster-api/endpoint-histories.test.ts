import { expect } from "vitest";
import { clusterApiTest as test } from "../support/cluster-api.ts";
import { tryHistories } from "../support/endpoint-trial.ts";

test("a sample of histories beside the core manager ends with one winner, and a new process finds nothing to write", async ({
  cluster,
  core,
}) => {
  expect(core.output()).not.toBe("");
  expect(await tryHistories(cluster, { seeds: [1, 2, 3], atOnce: 3 })).toEqual([]);
});
