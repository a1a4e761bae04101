import { expect, it } from "vitest";
import type { ShootView } from "../../../src/activities/index.ts";
import type { Shoot } from "../../../src/api/index.ts";
import type { TypeRef } from "../../../src/api/schema/kind.ts";
import type { ShootRef } from "../../../src/api/shoot/run.ts";
import type { ShootClient } from "../../../src/client/shoots.ts";
import type { Context } from "../../../src/cli/context.ts";
import { describe } from "../../../src/cli/shoot/describe.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { fakeTerminal } from "./fake-terminal.ts";
import { explainIdleness } from "../../../src/cli/report/idleness.ts";
import { movableShoot, readySeed } from "../../support/migration-objects.ts";
import { shootRun } from "../../support/shoot-run.ts";

const now = new Date("2026-11-21T10:10:00Z");
const shoot: Shoot = { ...movableShoot(), status: {} };

it.each<[string, Partial<ShootView>, boolean | undefined, string]>([
  ["that nothing has taken up", {}, false, "no workflow has taken it up: the manager begins one, see that it runs"],
  ["whose workflow does nothing", {}, true, "its workflow has not begun one: Perennial's worker for the garden does"],
  ["while Temporal is silent", {}, undefined, "whether a workflow has taken it up is not known, since Temporal"],
  [
    "that is ignored",
    { ignored: true },
    true,
    "the Shoot is ignored: remove its annotation shoot.gardener.cloud/ignore",
  ],
  ["whose Seed is not there", { problem: { message: "Seed x does not exist", codes: [] } }, true, "Seed x does"],
])("a description says of a Shoot %s why it has no operation", (_, change, hasWorkflow, reason) => {
  expect(explain({ ...fresh(), ...change }, hasWorkflow)).toContain(reason);
});

it("a description says of a Shoot without a Seed which ones take it, and else why none does", () => {
  const nowhere: Shoot = { ...shoot, spec: { ...shoot.spec, seedName: undefined } };
  const { run: _, ...view } = {
    ...fresh(),
    problem: { message: "the Shoot has no seed: set spec.seedName", codes: [] },
  };
  const seeds = [readySeed("seed-1", now), readySeed("seed-2", now)];
  expect(explain(view, true, nowhere, seeds)).toBe(
    "the Shoot has no seed: set spec.seedName; these take it: seed-1, seed-2",
  );
  const tainted = seeds.slice(0, 1).map((seed) => ({ ...seed, spec: { ...seed.spec, taints: [{ key: "reserved" }] } }));
  expect(explain(view, true, nowhere, tainted)).toBe(
    "the Shoot has no seed: set spec.seedName; none takes it: Seed seed-1 has taint reserved: add it to spec.tolerations or choose another Seed",
  );
  expect(explain(view, true, nowhere, [])).toBe("the Shoot has no seed: set spec.seedName; there is no Seed yet");
  const elsewhere = { ...nowhere, spec: { ...nowhere.spec, schedulerName: "other" } };
  expect(explain(view, true, elsewhere, seeds)).toBe(
    "the Shoot has no seed: set spec.seedName; Perennial's scheduler leaves it to other, as spec.schedulerName says: see that this scheduler runs, or set spec.seedName",
  );
  const time = "2026-11-21T10:09:00Z";
  const said = { type: "Scheduled", status: "False" as const, reason: "NoSeed", message: "None of 2 Seeds takes it." };
  const told = { ...nowhere, status: { conditions: [{ ...said, lastTransitionTime: time, lastUpdateTime: time }] } };
  expect(explain(view, true, told, seeds)).toBe("the Shoot has no seed: set spec.seedName; None of 2 Seeds takes it.");
});

it("a description says of a changed spec that its operation has not begun", () => {
  const succeeded = { type: "Reconcile", state: "Succeeded", lastUpdateTime: "2026-11-21T10:09:00Z" } as const;
  const view = { ...fresh(), lastOperation: succeeded };
  expect(explain({ ...view, generation: 2, observedGeneration: 1 }, false)).toContain("no workflow has taken it up");
  expect(explain({ ...view, generation: 1, observedGeneration: 1 }, false)).toBeUndefined();
  expect(explain({ ...view, generation: 1, observedGeneration: 1, ignored: true }, false)).toBeUndefined();
});

it("a description says nothing of a Shoot that asks for nothing, or whose operation goes on", () => {
  const lastOperation = { type: "Create", state: "Processing", lastUpdateTime: "2026-11-21T10:09:00Z" } as const;
  expect(explain({ ...fresh(), observedGeneration: 1, lastOperation }, true)).toBeUndefined();
});

it("the verb describe says of a Shoot that nothing has taken up so, and which local processes are dead", async () => {
  const terminal = fakeTerminal();
  const seed = readySeed("seed-1", now);
  const objects: Readonly<Record<string, object>> = { Shoot: shoot, Seed: seed };
  const client = {
    read: async ({ kind }: TypeRef) => objects[kind],
    list: async ({ kind }: TypeRef) => (kind === "Seed" ? [seed] : []),
  };
  const flows = { progress: async () => undefined, withoutWorkflow: async (refs: readonly ShootRef[]) => refs };
  const manager = { name: "manager", running: false, startedAt: "2026-11-21T10:00:00Z", restarts: 0, log: "" };
  const context: Context = {
    ...{ terminal, variables: {}, signal: new AbortController().signal, now: () => now.getTime() },
    garden: async () => ({ client: client as unknown as KubeClient, namespace: "garden-dev" }),
    seed: async () => undefined,
    processes: async () => [manager],
    flows: async () => flows as unknown as ShootClient,
    management: () => Promise.reject(new Error("no verb here asks for a management cluster")),
    installations: () => Promise.reject(new Error("no verb here asks for installations")),
    leaders: () => Promise.reject(new Error("no verb here asks who leads")),
    gardenRegister: () => Promise.reject(new Error("no verb here asks for a register")),
  };
  const options = { ...noOptions, namespace: undefined, output: undefined };
  await describe.run({ args: { shoot: "local" }, options, context });
  const text = terminal.out.text();
  expect(text).toContain("No operation runs: no workflow has taken it up: the manager begins one, see that it runs");
  expect(text).toContain("Dead: manager. What is missing is started by: perennial local up");
});

const noOptions = { kubeconfig: undefined, temporal: undefined, temporalNamespace: undefined };

function explain(view: ShootView, hasWorkflow: boolean | undefined, of = shoot, seeds = [readySeed("seed-1", now)]) {
  return explainIdleness({ shoot: of, view, seeds, hasWorkflow });
}

function fresh(): ShootView {
  const { operation: _, ...run } = shootRun();
  return {
    ...{ generation: 1, observedGeneration: 0, deleting: false, finalizer: true, initialised: false, ignored: false },
    ...{ leftovers: [], syncPeriod: 3_600_000, run },
  };
}
