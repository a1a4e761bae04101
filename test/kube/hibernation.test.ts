import { expect } from "vitest";
import { createComponents } from "../../src/activities/control-plane/components.ts";
import { createShootClients } from "../../src/activities/shoot/clients.ts";
import { createShootStatus } from "../../src/activities/shoot/status.ts";
import { readShootView } from "../../src/activities/shoot/view.ts";
import { Shoot } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { Deployment, refTo, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { notedWaits } from "../support/noted-waits.ts";

const log = createLogger({ name: "test", level: "silent" });
const periods = { leaseSeconds: 60, dnsTtl: 120, syncPeriod: 1, seedDeadline: 1, retryDuration: 1 };
let kube: KubeClient;
let count = 0;

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await applyGarden(kube);
});
const sleeper = () => createShoot(kube, `sleeper-${(count += 1)}`, { hibernation: { enabled: true } });

/** Deploys a component, and says how many pods it is to have, and what is waited for. */
async function deployed(run: ShootRun) {
  const clients = createShootClients(kube, log);
  const components = createComponents({
    ...{ gardenClient: kube, seedClient: kube },
    ...{ shootClients: clients, waits: notedWaits },
  });
  const targets = await components.deploy(run, "kube-controller-manager", "kubeControllerManager");
  const ref = refTo(Deployment, { namespace: run.technicalID, name: "kube-controller-manager" });
  return { replicas: (await kube.read(ref))?.spec.replicas, awaited: targets.map(({ until }) => until) };
}

test("the control plane of a hibernated Shoot runs no pods, but until its machines have gone and for a deletion", async () => {
  const run = await sleeper();
  expect(await deployed({ ...run, hibernated: true })).toEqual({ replicas: 0, awaited: ["rolledOut"] });
  const before = { ...run, hibernated: true, fallsAsleep: true };
  expect(await deployed(before)).toEqual({ replicas: 1, awaited: ["rolledOut"] });
  const deletion = { ...run, operation: "Delete", hibernated: false } as const;
  expect(await deployed(deletion)).toEqual({ replicas: 1, awaited: ["rolledOut"] });
});

test("a Shoot sleeps when the operation that puts it to sleep has ended, and is awake when one that wakes it up begins", async () => {
  const { namespace, name, uid, ...facts } = await sleeper();
  const ref = { namespace, name, uid };
  const status = createShootStatus(kube);
  const look = async () => {
    const { hibernated, fallsAsleep } = (await readShootView(kube, ref, periods))?.run ?? {};
    const { status: said } = (await kube.read(refTo(Shoot, { namespace, name }))) ?? {};
    return { hibernated, fallsAsleep, said: said?.hibernated };
  };
  const perform = async (o: Partial<ShootRun>) => {
    const run = { ...facts, ...ref, ...o };
    await status.begin(run, undefined);
    const begun = await look();
    await status.write(run, { state: "Succeeded", progress: 100, description: "done", lastErrors: [] });
    return [begun.said, (await look()).said];
  };
  expect(await look()).toEqual({ hibernated: true, fallsAsleep: true, said: undefined });
  expect(await perform({ hibernated: true, fallsAsleep: true })).toEqual([false, true]);
  expect(await look()).toEqual({ hibernated: true, fallsAsleep: undefined, said: true });
  expect(await perform({ hibernated: true, operation: "Reconcile" })).toEqual([true, true]);
  expect(await perform({ hibernated: false, operation: "Reconcile" })).toEqual([false, false]);
});

test("a Shoot that moves before it has fallen asleep does not say that it sleeps", async () => {
  const run = await sleeper();
  const migration = { source: "seed-1", destination: "seed-2", takeover: false };
  const moving = { ...run, operation: "Migrate", hibernated: true, fallsAsleep: true, migration } as const;
  const status = createShootStatus(kube);
  await status.begin(moving, undefined);
  await status.write(moving, { state: "Succeeded", progress: 100, description: "done", lastErrors: [] });
  const { namespace, name } = run;
  expect((await kube.read(refTo(Shoot, { namespace, name })))?.status?.hibernated).toBe(false);
});
