import { afterEach, expect } from "vitest";
import type { ShootBastion } from "../../src/api/index.ts";
import { createBastionController } from "../../src/controllers/bastion.ts";
import { refOf, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";

const HOUR = 3_600_000;
const namespace = "garden-dev";
const log = createLogger({ name: "test", level: "silent" });
let kube: KubeClient;
let later = 0;
let controller: ReturnType<typeof createBastionController> | undefined;

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await applyGarden(kube);
  await createShoot(kube, "reached", { seedName: "seed-1" });
});
afterEach(async () => await controller?.stop());

/** Begins with a Bastion, and with a manager whose clock is `later` ms ahead and which sees the garden through `gardenClient`. */
async function start(name: string, gardenClient = kube): Promise<ShootBastion> {
  later = 0;
  controller = createBastionController({ gardenClient, log, period: 100, now: () => Date.now() + later });
  controller.start();
  return kube.create<ShootBastion>({
    ...{ apiVersion: "operations.gardener.cloud/v1alpha1", kind: "Bastion", metadata: { name, namespace } },
    spec: {
      ...{ shootRef: { name: "reached" }, seedName: "seed-1", providerType: "local", sshPublicKey: "a" },
      ingress: [{ ipBlock: { cidr: "192.0.2.7/32" } }],
    },
  });
}

/** For how many hours, rounded, it is to live from its creation on. */
async function life(bastion: ShootBastion): Promise<number> {
  const { metadata, status } = (await kube.read(refOf(bastion))) ?? bastion;
  return Math.round(
    (Date.parse(status?.expirationTimestamp ?? "") - Date.parse(metadata.creationTimestamp ?? "")) / HOUR,
  );
}

const askToStay = async (bastion: ShootBastion) =>
  void (await kube.patch(refOf(bastion), { metadata: { annotations: { "gardener.cloud/operation": "keepalive" } } }));
const isAskedToStay = async (bastion: ShootBastion) =>
  (await kube.read(refOf(bastion)))?.metadata.annotations?.["gardener.cloud/operation"] !== undefined;

test("a Bastion lives for an hour, for one more each time that it is asked to stay, and for a day at most", async () => {
  const bastion = await start("stays");
  await eventually(async () => expect(await life(bastion)).toBe(1));
  for (let hours = 0.95; hours < 24; hours += 0.95) {
    later = hours * HOUR;
    await askToStay(bastion);
    await eventually(async () => {
      expect(await isAskedToStay(bastion)).toBe(false);
      expect(await life(bastion)).toBe(Math.min(Math.round(hours + 1), 24));
    });
  }
  await kube.remove(refOf(bastion));
});

test("a Bastion whose time is over is deleted", async () => {
  const bastion = await start("ends");
  await eventually(async () => expect(await life(bastion)).toBe(1));
  later = 1.1 * HOUR;
  await eventually(async () => expect(await kube.read(refOf(bastion))).toBeUndefined());
});

test.each<[string, (bastion: ShootBastion) => Promise<unknown>]>([
  ["asked to stay", askToStay],
  [
    "made anew",
    async (bastion) => {
      await kube.remove(refOf(bastion));
      const { name } = bastion.metadata;
      await kube.create({ ...bastion, metadata: { name, namespace } });
    },
  ],
])("a Bastion that is %s while the manager ends it is not deleted", async (done, change) => {
  let isChanged = false;
  const name = done.replaceAll(" ", "-");
  const remove: KubeClient["remove"] = async (ref, options) => {
    if (!isChanged) await change(bastion);
    isChanged = true;
    await kube.remove(ref, options);
  };
  const bastion = await start(name, { ...kube, remove });
  await eventually(async () => expect(await life(bastion)).toBe(1));
  later = 1.1 * HOUR;
  await eventually(async () => {
    expect(isChanged).toBe(true);
    const { status, metadata } = (await kube.read(refOf(bastion))) ?? expect.fail(`Bastion ${name} is gone`);
    expect(metadata.annotations?.["gardener.cloud/operation"]).toBeUndefined();
    expect(Date.parse(status?.expirationTimestamp ?? "")).toBeGreaterThan(Date.now() + later);
  });
  await controller?.stop();
  await kube.remove(refOf(bastion));
});
