import { expect } from "vitest";
import { createComponents } from "../../src/activities/control-plane/components.ts";
import { readShootView } from "../../src/activities/shoot/view.ts";
import { Seed, Shoot, type ControllerRegistration } from "../../src/api/index.ts";
import { registeredOf } from "../../src/api/registration/registered.ts";
import { components } from "../../src/components/index.ts";
import { refOf, refTo } from "../../src/kube/index.ts";
import { exampleContext } from "../support/control-plane-context.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { notedWaits } from "../support/noted-waits.ts";
import { shootRun } from "../support/shoot-run.ts";

const periods = { leaseSeconds: 60, dnsTtl: 120, syncPeriod: 1, seedDeadline: 1, retryDuration: 1 };
const asked = { "perennial.dev/resource-manager": "true" };

test.for([
  ["neither it nor its Seed asks for one", {}, {}, undefined],
  ["it asks for one", asked, {}, true],
  ["its Seed asks for one", {}, asked, true],
  ["it asks for none", { "perennial.dev/resource-manager": "false" }, {}, undefined],
] as const)(
  "whether a Shoot has a resource manager where %s",
  async ([, ofShoot, ofSeed, expected], { cluster: { client } }) => {
    await applyGarden(client);
    const { namespace, name, uid } = await createShoot(client, "managed");
    const shoot = refTo(Shoot, { namespace, name });
    const { seedName = "" } = (await client.read(shoot))?.spec ?? {};
    const seed = refTo(Seed, { name: seedName });
    await client.patch(shoot, { metadata: { annotations: ofShoot } });
    await client.patch(seed, { metadata: { annotations: { "perennial.dev/resource-manager": null, ...ofSeed } } });
    const view = await readShootView(client, { namespace, name, uid }, periods);
    expect(view?.run?.seedName).toBe(seedName);
    expect(view?.run?.managesResources).toBe(expected);
    await client.remove(shoot);
  },
);

test("a Shoot has a resource manager where an extension that serves it is installed from a chart", async ({
  cluster: { client },
}) => {
  await applyGarden(client);
  const ref = await createShoot(client, "served", { seedName: "seed-1" });
  const registration = {
    ...{ apiVersion: "core.gardener.cloud/v1beta1", kind: "ControllerRegistration", metadata: { name: "by-chart" } },
    spec: { resources: [{ kind: "Network", type: "local" }], deployment: { type: "helm" } },
  } as unknown as ControllerRegistration;
  const viewWith = async (...registrations: ControllerRegistration[]) =>
    (await readShootView(client, ref, periods, { registered: () => registrations.map(registeredOf) }))?.run;
  expect((await viewWith(registration))?.managesResources).toBe(true);
  expect((await viewWith())?.managesResources).toBeUndefined();
  await client.remove(refTo(Shoot, ref));
});

test("a Shoot whose status says that there is a resource manager has one still, though nothing asks for it", async ({
  cluster: { client },
}) => {
  await applyGarden(client);
  const ref = await createShoot(client, "left", { seedName: "seed-1" });
  const runOf = async () => (await readShootView(client, ref, periods))?.run;
  expect(await runOf()).not.toHaveProperty("resourceManagerUnasked");
  await client.patch(refTo(Shoot, ref), { status: { managesResources: true } }, { subresource: "status" });
  expect(await runOf()).toMatchObject({ managesResources: true, resourceManagerUnasked: true });
  await client.patch(refTo(Shoot, ref), { metadata: { annotations: asked } });
  expect(await runOf()).toMatchObject({ managesResources: true });
  expect(await runOf()).not.toHaveProperty("resourceManagerUnasked");
  await client.remove(refTo(Shoot, ref));
});

test("the webhooks of a resource manager are taken away, and are nothing to take away after that", async ({
  cluster: { client },
}) => {
  // The API server is the Shoot's, too.
  const shootClients = { get: async () => client, forget: async () => {}, close: async () => {} };
  const deps = { gardenClient: client, seedClient: client, shootClients, waits: notedWaits };
  const [webhooks] = components["resource-manager-webhooks"].objects(exampleContext());
  if (webhooks === undefined) expect.fail("there are none");
  await client.apply(webhooks);
  await createComponents(deps).removeStaleWebhooks(shootRun());
  expect(await client.read(refOf(webhooks))).toBeUndefined();
  await createComponents(deps).removeStaleWebhooks(shootRun());
});
