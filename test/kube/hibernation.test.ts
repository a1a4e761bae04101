import { expect } from "vitest";
import { createComponents } from "../../src/activities/control-plane/components.ts";
import { createShootClients } from "../../src/activities/shoot/clients.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { Deployment, refTo, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { notedWaits } from "../support/noted-waits.ts";

const log = createLogger({ name: "test", level: "silent" });
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

test("the control plane of a hibernated Shoot runs no pods, and is woken for a deletion", async () => {
  const run = await sleeper();
  expect(await deployed({ ...run, hibernated: true })).toEqual({ replicas: 0, awaited: ["rolledOut"] });
  const deletion = { ...run, operation: "Delete", hibernated: false } as const;
  expect(await deployed(deletion)).toEqual({ replicas: 1, awaited: ["rolledOut"] });
});
