import { expect } from "vitest";
import { readContext } from "../../src/activities/control-plane/context.ts";
import { fenced } from "../../src/activities/leadership/fenced-client.ts";
import { Shoot } from "../../src/api/index.ts";
import { judgePlan } from "../../src/cli/flow/plan.ts";
import { flowTables, readView } from "../../src/cli/report/flow-tables.ts";
import { planShoot } from "../../src/cli/report/plan.ts";
import { components } from "../../src/components/index.ts";
import { refTo } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";

test("a Reconcile is planned in a seed that takes no writes of earlier epochs", async ({ cluster: { client } }) => {
  await applyGarden(client);
  const run = { ...(await createShoot(client, "planned")), epoch: 2 };
  const ref = refTo(Shoot, { namespace: run.namespace, name: run.name });
  const leadership = { record: "planned.example.org", seed: "seed-1", epoch: 2, leaseSeconds: 60 };
  const lastUpdateTime = "2026-01-01T10:00:00Z";
  const lastOperation = { type: "Create", state: "Succeeded", progress: 100, description: "", lastUpdateTime };
  const { technicalID, uid } = run;
  const status = { technicalID, uid, seedName: "seed-1", leadership, lastOperation };
  const shoot = await client.patch(ref, { status }, { subresource: "status" });
  const view = await readView({ client }, shoot);
  const context = await readContext(client, client, { ...run, ...view.run });
  for (const object of components.namespace.objects(context)) await fenced(client, run).apply(object);

  const planned = planShoot(shoot, { view, tables: flowTables, operation: "reconcile", now: Date.now() });
  const { steps, unjudged } = await judgePlan(planned, { view, garden: { client }, seedClient: client });
  expect(unjudged).toBeUndefined();
  const { would, why } = steps.find(({ step }) => step === "namespace") ?? {};
  expect({ would, why }).toEqual({ would: "look" });
  expect(steps.find(({ step }) => step === "kubeApiServer")).toMatchObject({ would: "change" });
  expect(steps.filter(({ why }) => why?.includes("perennial-fence"))).toEqual([]);
});
