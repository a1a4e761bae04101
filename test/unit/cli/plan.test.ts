import { expect, it } from "vitest";
import type { Shoot } from "../../../src/api/index.ts";
import type { ShootView } from "../../../src/activities/index.ts";
import { judgePlan, renderPlan } from "../../../src/cli/flow/plan.ts";
import { planShoot } from "../../../src/cli/report/plan.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { call, defineShootFlow } from "../../../src/workflows/actions.ts";
import { hasExternalDomain, hasWorkers, moved, sourceAnswers } from "../../../src/workflows/conditions.ts";
import type { FlowKind } from "../../../src/workflows/contract.ts";
import { shootRun } from "../../support/shoot-run.ts";
import { fakeOutput } from "./fake-terminal.ts";

const now = Date.parse("2026-11-21T10:10:00Z");

it("the plan for a new Shoot is a Create and says why each step is skipped", () => {
  const plan = planned(view({ run: shootRun({ workerless: true }) }));
  expect(plan).toMatchObject({ operation: "Create", due: "due now: the Shoot is new" });
  expect(plan.steps.find(({ step }) => step === "infrastructure")).toMatchObject({
    skipped: true,
    because: "only when the Shoot has workers",
  });
  expect(plan.steps.find(({ step }) => step === "etcd")).toMatchObject({ skipped: false });
});

it("the plan says how long nothing is due", () => {
  const lastOperation = { type: "Create" as const, state: "Succeeded", lastUpdateTime: "2026-11-21T10:00:00Z" };
  expect(planned(view({ lastOperation, observedGeneration: 1 }))).toMatchObject({
    operation: "Reconcile",
    due: "not due for 50m",
  });
});

it("the plan says that a Shoot which waits for an operator is not begun anew", () => {
  const lastOperation = { type: "Create" as const, state: "Failed", lastUpdateTime: "2026-11-21T10:00:00Z" };
  expect(planned(view({ lastOperation, observedGeneration: 1 })).due).toContain("waits for a retry");
});

it("the plan of a deletion that was not asked for says so", () => {
  const plan = planned(view({}), "delete");
  expect(plan).toMatchObject({ operation: "Delete", flow: "Delete Shoot" });
  expect(plan.due).toContain("not what the Shoot asks for");
  expect(plan.assumes).toBeDefined();
});

it("the plan of a deletion by force is that of its own flow, and due where the Shoot's owner has asked for it", () => {
  const forced = planned(view({ deleting: true, initialised: true, run: shootRun({ forced: true }) }));
  expect(forced).toMatchObject({ operation: "Delete", flow: "Delete Shoot by force" });
  expect(forced.due).toBe("due now: the Shoot is being deleted");
  expect(planned(view({ deleting: true })).flow).toBe("Delete Shoot");
  expect(planned(view({ deleting: true }), "force-delete").due).toContain("not what the Shoot asks for");
});

it("the plan shows the move that a Shoot is on, and one that was not asked for", () => {
  const migration = { source: "seed-1", destination: "seed-2", takeover: true };
  const moving = planned(view({ moving: "Migrate", run: shootRun({ migration }) }));
  expect(moving).toMatchObject({
    operation: "Migrate",
    due: "due now: the Shoot moves from Seed seed-1 to Seed seed-2, which takes over",
  });
  expect(moving.steps[1]).toMatchObject({ step: "firstSnapshot", skipped: true });
  const requested = planned(view({}), "migrate", "seed-2");
  expect(requested.due).toContain("not what the Shoot asks for");
  expect(requested.steps[1]).toMatchObject({ step: "firstSnapshot", skipped: false });
  expect(planned(view({}), "restore", "seed-2").steps).toMatchObject([{ step: "leases", skipped: false }]);
  expect(() => planned(view({}), "migrate")).toThrow("is not on its way anywhere: name a Seed with --to");
});

it("the plan says that a Shoot whose move was cancelled goes to where it was", () => {
  const migration = { source: "seed-1", destination: "seed-1", takeover: false, returning: true } as const;
  const plan = planned(view({ moving: "Restore", run: shootRun({ migration }) }));
  expect(plan).toMatchObject({ operation: "Restore", due: "due now: the Shoot was called back to Seed seed-1" });
  expect(plan.steps).toMatchObject([{ step: "leases", skipped: true }]);
});

it("the plan is refused where nothing can be done, with the reason", () => {
  const { run: _, ...facts } = view({});
  const problem = { message: "the Shoot has no seed: set spec.seedName", codes: [] };
  expect(() => planned({ ...facts, problem })).toThrow("the Shoot has no seed: set spec.seedName");
});

it("the plan has a line per step, and says that nothing was touched", () => {
  const text = renderPlan(fakeOutput(), planned(view({ run: shootRun({ hasExternalDomain: false }) })), true);
  expect(text).toContain("Nothing was touched.");
  expect(text).toMatch(/^externalDns +skip +namespace,etcd +only when the Shoot has a DNS domain$/m);
});

it("the plan of a Reconcile says what would change, what asks a controller, and what finds all in place", () => {
  const plan = planned(view({ lastOperation, observedGeneration: 1, run: shootRun({ hasExternalDomain: false }) }));
  const judgements = [
    { would: "change", why: "Deployment a/kube-apiserver: spec.template.spec.containers" },
    { would: "ask", why: "its last operation is Error" },
    { would: "look" },
    {},
  ] as const;
  const steps = plan.steps.map((step, index) => ({ ...step, ...judgements[index] }));
  const text = renderPlan(fakeOutput(), { ...plan, steps }, false);
  expect(text).toContain(
    "1 step would change something, 1 would ask a controller to act, 1 would look again and find all in place, 0 would do what only a run can tell, 1 would be skipped. Nothing was touched.",
  );
  expect(text).toMatch(/^namespace +change +Deployment a\/kube-apiserver: spec\.template\.spec\.containers$/m);
  expect(text).toMatch(/^etcd +ask +its last operation is Error$/m);
  expect(text).toMatch(/^infrastructure +look again +<none>$/m);
  expect(text).toMatch(/^externalDns +skip +only when the Shoot has a DNS domain$/m);
});

it("the plan of a Reconcile says that only the seed knows what would change where the seed is not at hand", async () => {
  const given = view({ lastOperation, observedGeneration: 1 });
  const nothing = { view: given, garden: { client: {} as KubeClient }, seedClient: undefined };
  const text = renderPlan(fakeOutput(), await judgePlan(planned(given), nothing), false);
  expect(text).toContain(
    "Which of them would change something is not known here: the kubeconfig of Seed seed-1 is not at hand.",
  );
});

it("the plan of a Reconcile stands also where the seed does not answer, and says so", async () => {
  const given = view({ lastOperation, observedGeneration: 1 });
  const silent = { read: () => Promise.reject(new Error("seed-1 is unreachable")), list: async () => [] };
  const client = silent as unknown as KubeClient;
  const { unjudged, steps } = await judgePlan(planned(given), { view: given, garden: { client }, seedClient: client });
  expect(unjudged).toBe("Which of them would change something is not known here: seed-1 is unreachable");
  expect(steps).toEqual(planned(given).steps);
});

const lastOperation = { type: "Create", state: "Succeeded", lastUpdateTime: "2026-11-21T10:00:00Z" } as const;

const tables = {
  reconcile: defineShootFlow("Reconcile Shoot", {
    namespace: { do: call("syncCluster") },
    etcd: { do: call("syncCluster"), after: ["namespace"] },
    infrastructure: { do: call("syncCluster"), after: ["namespace"], when: [hasWorkers] },
    externalDns: { do: call("syncCluster"), after: ["namespace", "etcd"], when: [hasExternalDomain] },
  }),
  delete: defineShootFlow("Delete Shoot", { removeInfrastructure: { do: call("syncCluster") } }),
  "force-delete": defineShootFlow("Delete Shoot by force", { cluster: { do: call("syncCluster") } }),
  migrate: defineShootFlow("Migrate Shoot", {
    check: { do: call("syncCluster") },
    firstSnapshot: { do: call("syncCluster"), after: ["check"], when: [sourceAnswers] },
  }),
  restore: defineShootFlow("Restore Shoot", { leases: { do: call("syncCluster"), when: [moved] } }),
};

function planned(given: ShootView, operation?: FlowKind, to?: string) {
  return planShoot(shoot, { view: given, tables, operation, to, now });
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
    leftovers: [],
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
