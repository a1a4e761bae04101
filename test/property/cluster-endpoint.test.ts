import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../src/cluster-api/endpoint/decide.ts";
import { clusterOf, endpointOf } from "../support/cluster-endpoints.ts";
import { histories } from "../support/endpoint-world/changes.ts";
import { faults } from "../support/endpoint-world/faults.ts";
import { runHistory } from "../support/endpoint-world/run.ts";

test("after any history there is one winner in any order of objects, with its value on the Cluster, by one write a change at most", async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      expect(await runHistory(history)).toBeUndefined();
    }),
    { numRuns: 10_000 },
  );
}, 120_000);

const values = fc.record({ host: fc.constantFrom("a.example.com", "10.0.0.1"), port: fc.constantFrom(443, 6443) });

test("a generated object never changes a whole endpoint of its Cluster, whatever else there is to lose to it", () => {
  fc.assert(
    fc.property(values, values, fc.constantFrom("user" as const, "provider" as const), (present, value, generated) => {
      expect(decide(clusterOf(present).spec, [endpointOf({ ...value, generated })])).not.toHaveProperty("surface");
    }),
    { numRuns: 1_000 },
  );
});

test.each(Object.entries(faults))("histories find a controller that %s", async (_, fault) => {
  const sound = fc.asyncProperty(histories, async (history) => (await runHistory(history, fault)) === undefined);
  const { counterexample } = await fc.check(sound, { numRuns: 5_000, endOnFailure: true });
  expect(await runHistory(counterexample?.[0] ?? [], fault)).toEqual(expect.any(String));
});
