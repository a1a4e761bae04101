import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../src/cluster-api/endpoint/decide.ts";
import { clusterOf, endpointOf } from "../support/cluster-endpoints.ts";
import { histories, type Step } from "../support/endpoint-world/changes.ts";
import { faults } from "../support/endpoint-world/faults.ts";
import { runHistory } from "../support/endpoint-world/run.ts";
import { seconds } from "../support/patience.ts";

test(
  "after any history there is one winner in any order of objects, with its value on the Cluster, by one write a change at most",
  async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        expect(await runHistory(history)).toBeUndefined();
      }),
      { numRuns: 10_000 },
    );
  },
  seconds(120),
);

test("an object gets no owner that has gone, though the controller has not heard of that", async () => {
  const value = { host: "a.example.com", port: 443 } as const;
  const step = { coreFirst: false, seen: { cluster: false, endpoints: false }, meanwhile: undefined, rests: false };
  const made = { is: "made", value, owner: undefined } as const;
  const history: Step[] = [
    { ...step, change: { ...made, name: "x" }, rests: true },
    { ...step, change: { ...made, name: "y" } },
    { ...step, change: { is: "clusterGone" } },
    { ...step, change: { is: "clusterMade", value: undefined }, seen: { cluster: false, endpoints: true } },
  ];
  expect(await runHistory(history)).toBeUndefined();
});

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
