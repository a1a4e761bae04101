import { afterEach, beforeEach, expect } from "vitest";
import { EXPIRATION_ANNOTATION } from "../../src/api/annotations.ts";
import type { SecretBinding } from "../../src/api/index.ts";
import { Quota, Shoot } from "../../src/api/index.ts";
import { createShootLifetimeController } from "../../src/controllers/shoot-lifetime.ts";
import { refTo, type KubeClient, type Occurrence } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";

const namespace = "garden-dev";
const DAY = 24 * 3_600_000;
const shootRef = refTo(Shoot, { namespace, name: "trial" });

let client: KubeClient;
let told: Occurrence[];
let time: number;
let stop: () => Promise<void>;

test.beforeAll(({ cluster }) => void (client = cluster.client));

beforeEach(async () => {
  told = [];
  time = Date.now();
  await applyGarden(client);
  await client.apply<SecretBinding>({
    ...{ apiVersion: "core.gardener.cloud/v1beta1", kind: "SecretBinding", metadata: { namespace, name: "trial" } },
    ...{ provider: { type: "local" }, secretRef: { namespace, name: "trial" } },
    quotas: [{ name: "trial" }, { name: "unlimited" }],
  });
  await quota("unlimited", undefined);
  await quota("trial", 7);
  await createShoot(client, "trial", { credentialsBindingName: undefined, secretBindingName: "trial" });
  start();
});
afterEach(async () => {
  await stop();
  await client.removeAll(Shoot, { namespace });
});

const start = () => {
  const controller = createShootLifetimeController({
    ...{ gardenClient: client, log: createLogger({ name: "test", level: "silent" }), period: 50, now: () => time },
    events: { record: (occurrence: Occurrence) => void told.push(occurrence) },
  });
  controller.start();
  stop = controller.stop;
};
const quota = (name: string, clusterLifetimeDays: number | undefined) =>
  client.apply<Quota>({
    ...{ apiVersion: "core.gardener.cloud/v1beta1", kind: "Quota", metadata: { namespace, name } },
    spec: {
      scope: { apiVersion: "v1", kind: "Secret" },
      metrics: {},
      ...(clusterLifetimeDays && { clusterLifetimeDays }),
    },
  });
const expiration = async () => (await client.read(shootRef))?.metadata.annotations?.[EXPIRATION_ANNOTATION];
const created = async () => Date.parse((await client.read(shootRef))?.metadata.creationTimestamp ?? "");

test("a Shoot is told when its life ends, and is deleted then, not before", async () => {
  const end = (await created()) + 7 * DAY;
  await eventually(async () => expect(Date.parse((await expiration()) ?? "")).toBe(end));
  time = end - 1000;
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await client.read(shootRef)).toMatchObject({ metadata: { name: "trial" } });
  time = end;
  await eventually(async () => expect(await client.read(shootRef)).toBeUndefined());
  // Told behind the deletion's answer, which the test may read before.
  await eventually(() =>
    expect(told).toMatchObject([{ reason: "LifetimeExpired", regarding: { metadata: { name: "trial" } } }]),
  );
});

test("a life that was made longer lasts as long as the annotation says", async () => {
  await eventually(async () => expect(await expiration()).toBeDefined());
  const longer = new Date((await created()) + 10 * DAY).toISOString();
  await client.patch(shootRef, { metadata: { annotations: { [EXPIRATION_ANNOTATION]: longer } } });
  time = (await created()) + 9 * DAY;
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await expiration()).toBe(longer);
  time = Date.parse(longer);
  await eventually(async () => expect(await client.read(shootRef)).toBeUndefined());
});

test("a Shoot whose Quotas end no lives any more lives on", async () => {
  await eventually(async () => expect(await expiration()).toBeDefined());
  await stop(); // or it might still go by the Quotas that it has read, at the time that is then
  await client.removeAll(Quota, { namespace });
  time = (await created()) + 100 * DAY;
  await quota("trial", undefined);
  start();
  await eventually(async () => expect(await expiration()).toBeUndefined());
  expect(told).toEqual([]);
  expect(await client.read(shootRef)).toMatchObject({ metadata: { name: "trial" } });
});
