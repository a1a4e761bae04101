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

test("fifty histories beside the core manager end with one winner, and a new process finds nothing to write", async ({
  cluster,
  core,
}) => {
  expect(core.output()).not.toBe("");
  await applyEndpointKind(cluster.client);
  await serveProvider(cluster);
  const first = (own = startCounted(cluster));
  const seeds = Array.from({ length: 50 }, (_, index) => index + 1);
  const workers = Array.from({ length: 8 }, async () => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) await tryHistory(cluster, first, seed);
  });
  await Promise.all(workers);
  await first.stop();
  const second = (own = startCounted(cluster));
  expect(await writesOf(cluster, second)).toEqual([]);
});
