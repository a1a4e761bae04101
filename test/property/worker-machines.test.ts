import fc from "fast-check";
import { expect, test } from "vitest";
import { MACHINE_POOL_HASH_LABEL } from "../../src/api/labels.ts";
import { machineNames, planPool, poolHash } from "../../src/provider-local/worker/machines.ts";
import { made, namespace, pool } from "../support/worker-pools.ts";

test("the actions for a pool lead to the wanted machines from anywhere, never with too many or too few", () => {
  const amount = fc.integer({ min: 0, max: 5 });
  fc.assert(
    fc.property(fc.nat(5), fc.nat(5), amount, amount, (count, before, maxSurge, maxUnavailable) => {
      const target = pool({ maxSurge, maxUnavailable });
      const most = Math.max(before, count + Math.max(maxSurge, 1));
      const least = Math.min(before, count - Math.min(maxUnavailable, count));
      let machines = made(pool({ machineType: "old" }), before);
      for (let round = 0; round < 50; round++) {
        const action = planPool(namespace, target, count, machines);
        if ("done" in action) {
          expect(machines.map(({ name }) => name).sort()).toEqual(machineNames(namespace, target, count).sort());
          return;
        }
        if ("create" in action) {
          const labels = { [MACHINE_POOL_HASH_LABEL]: poolHash(target) };
          machines = [...machines, ...action.create.map((name) => ({ name, labels }))];
          expect(machines.length).toBeLessThanOrEqual(most);
          continue;
        }
        expect(action.remove.length).toBeGreaterThan(0);
        machines = machines.filter(({ name }) => !action.remove.includes(name));
        expect(machines.length).toBeGreaterThanOrEqual(least);
      }
      throw new Error("no end");
    }),
  );
});
