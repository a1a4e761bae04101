import { expect } from "vitest";
import { Shoot } from "../../src/api/index.ts";
import type { ShootRef } from "../../src/api/shoot/run.ts";
import { createShootController } from "../../src/controllers/shoot.ts";
import { refTo } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";

const log = createLogger({ name: "test", level: "silent" });

test("a Shoot's workflow is told of a change that asks for something, such as the end of being ignored", async ({
  cluster,
}) => {
  const { client } = cluster;
  await applyGarden(client);
  const { namespace, name, uid } = await createShoot(client, "told");
  const told: ShootRef[] = [];
  const nudge = async (ref: ShootRef) => void told.push(ref);
  const shoots = { nudge, withoutWorkflow: async () => [] };
  const controller = createShootController({ gardenClient: client, shoots, log });
  controller.start();
  await controller.synced();
  await eventually(() => expect(told).toHaveLength(1));

  const annotate = (key: string, value: string | null) =>
    client.patch(refTo(Shoot, { namespace, name }), { metadata: { annotations: { [key]: value } } });
  await annotate("example.com/note", "of no account");
  await annotate("shoot.gardener.cloud/ignore", "true");
  await eventually(() => expect(told).toHaveLength(2));
  await annotate("shoot.gardener.cloud/ignore", null);
  await eventually(() => expect(told).toHaveLength(3));
  await annotate("gardener.cloud/operation", "reconcile");
  await eventually(() => expect(told).toHaveLength(4));
  await annotate("confirmation.gardener.cloud/force-deletion", "true");
  await eventually(() => expect(told).toHaveLength(5));
  expect(told.at(-1)).toEqual({ namespace, name, uid });
  await controller.stop();
});

test("a Shoot's workflow is told again and again of a change that no operation has taken up, and left alone otherwise", async ({
  cluster,
}) => {
  const { client } = cluster;
  await applyGarden(client);
  const [idle, waiting] = [await createShoot(client, "idle"), await createShoot(client, "waiting")];
  await client.patch(
    refTo(Shoot, { namespace: idle.namespace, name: idle.name }),
    { status: { observedGeneration: 1 } },
    { subresource: "status" },
  );
  const told: string[] = [];
  const nudge = async ({ name }: ShootRef) => void told.push(name);
  const shoots = { nudge, withoutWorkflow: async () => [] };
  const controller = createShootController({ gardenClient: client, shoots, log, sweepPeriod: 20 });
  controller.start();
  await controller.synced();
  const count = (name: string) => told.filter((one) => one === name).length;
  await eventually(() => expect(count(waiting.name)).toBeGreaterThan(5));
  expect(count(idle.name)).toBe(1); // when it was first seen
  await controller.stop();
});

test("a seed that reports damaged data again and again has the Shoot's workflow told once in a while", async ({
  cluster,
}) => {
  const { client } = cluster;
  await applyGarden(client);
  const { namespace, name } = await createShoot(client, "flickering");
  const told: string[] = [];
  const shoots = { nudge: async (ref: ShootRef) => void told.push(ref.name), withoutWorkflow: async () => [] };
  const controller = createShootController({ gardenClient: client, shoots, log, damagePeriod: 2_000 });
  controller.start();
  await controller.synced();
  const count = () => told.filter((one) => one === name).length;
  await eventually(() => expect(count()).toBe(1));
  const report = async (reason: string) => {
    const time = new Date().toISOString().replace(/\.\d+Z$/, "Z");
    const condition = { type: "ControlPlaneHealthy", status: "False", reason, message: "m" };
    const conditions = [{ ...condition, lastUpdateTime: time, lastTransitionTime: time }];
    await client.patch(refTo(Shoot, { namespace, name }), { status: { conditions } }, { subresource: "status" });
  };
  await report("EtcdDataDamaged");
  await eventually(() => expect(count()).toBe(2));
  for (let time = 0; time < 10; time += 1) {
    await report("Other");
    await report("EtcdDataDamaged");
  }
  await eventually(() => expect(count()).toBeGreaterThan(2)); // what came meanwhile is not lost
  expect(count()).toBeLessThan(6);
  await controller.stop();
});
