import { expect, test } from "vitest";
import { managerReplicas } from "../../../src/activities/machines/managed-machines.ts";
import type { ShootRun } from "../../../src/api/shoot/run.ts";
import { shootRun } from "../../support/shoot-run.ts";

const found = { present: 0, restoring: false, held: false, hasMachines: false };
const restore = { operation: "Restore" } as const;
const asleep = { hibernated: true };
const fallsAsleep = { hibernated: true, fallsAsleep: true };

test.for<[string, Partial<ShootRun>, Partial<typeof found>, number]>([
  ["is created", { operation: "Create" }, {}, 1],
  ["is reconciled", {}, { present: 1, hasMachines: true }, 1],
  ["is reconciled, and something has stopped it", {}, { hasMachines: true }, 1],
  ["is reconciled, and dependency-watchdog holds it", {}, { hasMachines: true, held: true }, 0],
  ["sleeps", asleep, { present: 1 }, 0],
  ["falls asleep with machines", fallsAsleep, { present: 1, hasMachines: true }, 1],
  ["falls asleep, and its last machine has gone", fallsAsleep, { present: 1 }, 0],
  ["is restored, and one of an earlier epoch is there", restore, { present: 1, hasMachines: true }, 0],
  ["is restored, and the Worker's controller has started it", restore, { present: 1, restoring: true }, 1],
  ["is restored, and the Worker's controller has not started it yet", restore, { restoring: true }, 0],
  ["sleeps and is restored", { ...restore, ...asleep }, { present: 1, restoring: true }, 0],
  ["sleeps and is deleted", { operation: "Delete", ...asleep }, {}, 1],
])("machine-controller-manager has its pods where a Shoot %s", ([, change, facts, expected]) => {
  expect(managerReplicas(shootRun({ operation: "Reconcile", ...change }), { ...found, ...facts })).toBe(expected);
});
