import { afterEach, expect } from "vitest";
import { clusterApiTest as test } from "../support/cluster-api.ts";
import { applyEndpointKind } from "../support/endpoint-lab.ts";
import {
  serveProvider,
  startCounted,
  tryHistory,
  writesOf,
  type CountedController,
} from "../support/endpoint-trial.ts";

let own: CountedController | undefined;
afterEach(() => own?.stop());

test("a sample of histories beside the core manager ends with one winner, and a new process finds nothing to write", async ({
  cluster,
  core,
}) => {
  expect(core.output()).not.toBe("");
  await applyEndpointKind(cluster.client);
  await serveProvider(cluster);
  const first = (own = startCounted(cluster));
  await Promise.all([1, 2, 3].map((seed) => tryHistory(cluster, first, seed)));
  await first.stop();
  const second = (own = startCounted(cluster));
  expect(await writesOf(cluster, second)).toEqual([]);
});
