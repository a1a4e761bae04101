import { expect, it } from "vitest";
import type { Shoot } from "../../../src/api/index.ts";
import type { ShootView } from "../../../src/activities/index.ts";
import { renderPlan } from "../../../src/cli/flow/plan.ts";
import { planShoot } from "../../../src/cli/shoot-plan.ts";
import { defineFlow } from "../../../src/flow/flow.ts";
import { hasExternalDomain, hasWorkers } from "../../../src/workflows/conditions.ts";
import { shootRun } from "../../support/shoot-run.ts";
import { fakeOutput } from "./fake-terminal.ts";

const now = Date.parse("2026-11-21T10:10:00Z");

it("plans a Create for a new Shoot and says why each step is skipped", () => {
  const plan = planned(view({ run: shootRun({ workerless: true }) }));
  expect(plan).toMatchObject({ operation: "Create", due: "due now: the Shoot is new" });
  expect(plan.steps.find(({ step }) => step === "infrastructure")).toMatchObject({
    skipped: true,
    because: "only when the Shoot has workers",
  });
  expect(plan.steps.find(({ step }) => step === "etcd")).toMatchObject({ skipped: false });
});

it("says how long nothing is due", () => {
  const lastOperation = { type: "Create" as const, state: "Succeeded", lastUpdateTime: "2026-11-21T10:00:00Z" };
  expect(planned(view({ lastOperation, observedGeneration: 1 }))).toMatchObject({
    operation: "Reconcile",
    due: "not due for 50m",
  });
});

it("says that a Shoot which waits for somebody is not begun anew", () => {
  const lastOperation = { type: "Create" as const, state: "Failed", lastUpdateTime: "2026-11-21T10:00:00Z" };
  expect(planned(view({ lastOperation, observedGeneration: 1 })).due).toContain("waits for a retry");
});

it("plans a deletion that nobody has asked for, and says so", () => {
  const plan = planned(view({}), "delete");
  expect(plan).toMatchObject({ operation: "Delete", flow: "Delete Shoot" });
  expect(plan.due).toContain("not what the Shoot asks for");
  expect(plan.assumes).toBeDefined();
});

it("refuses to plan where nothing can be done, and says why", () => {
  const { run: _, ...facts } = view({});
  const problem = { message: "the Shoot has no seed: set spec.seedName", codes: [] };
  expect(() => planned({ ...facts, problem })).toThrow("the Shoot has no seed: set spec.seedName");
});

it("prints a line per step, and that nothing was touched", () => {
  const text = renderPlan(fakeOutput(), planned(view({ run: shootRun({ hasExternalDomain: false }) })), true);
  expect(text).toContain("Nothing was touched.");
  expect(text).toMatch(/^externalDns +skip +namespace,etcd +only when the Shoot has a DNS domain$/m);
});

const never = () => Promise.reject(new Error("a plan ran a step"));

const tables = {
  reconcile: defineFlow("Reconcile Shoot", {
    namespace: { run: never },
    etcd: { run: never, after: ["namespace"] },
    infrastructure: { run: never, after: ["namespace"], when: [hasWorkers] },
    externalDns: { run: never, after: ["namespace", "etcd"], when: [hasExternalDomain] },
  }),
  delete: defineFlow("Delete Shoot", { removeInfrastructure: { run: never } }),
};

function planned(given: ShootView, operation?: "delete") {
  return planShoot(shoot, { view: given, tables, operation, now });
}

function view(change: Partial<ShootView>): ShootView {
  const { operation: _, ...run } = shootRun();
  return {
    generation: 1,
    observedGeneration: 0,
    deleting: false,
    finalizer: true,
    initialised: false,
    ignored: false,
    syncPeriod: 3_600_000,
    run,
    ...change,
  };
}

const shoot: Shoot = {
  apiVersion: "core.gardener.cloud/v1beta1",
  kind: "Shoot",
  metadata: { name: "local", namespace: "garden-dev", uid: "5f0c" },
  spec: { region: "local", kubernetes: { version: "1.34.4" }, provider: { type: "local" } },
};
