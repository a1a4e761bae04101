import { expect } from "vitest";
import { Cluster, Seed, Shoot, type Condition } from "../../src/api/index.ts";
import { createSeedSilenceController } from "../../src/controllers/seed-silence.ts";
import { now, refTo, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createCare } from "../../src/worker/care.ts";
import { createSeedStatus } from "../../src/worker/seed-status.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";

const log = createLogger({ name: "test", level: "silent" });
const ref = refTo(Seed, { name: "seed-1" });

test("a Seed whose worker is not heard of is not called ready, until it is heard of again", async ({
  cluster: { client },
}) => {
  await applyGarden(client);
  const lastUpdateTime = await heartbeat(client, 118); // it has two seconds left
  const controller = createSeedSilenceController({ gardenClient: client, log });
  controller.start();
  expect(await ready(client)).toMatchObject({ status: "True" });
  await eventually(async () => expect(await ready(client)).toMatchObject({ status: "Unknown" }));
  const silent = await ready(client);
  expect(silent).toMatchObject({ reason: "SeedStatusUnknown", lastUpdateTime });
  expect(Date.parse(silent?.lastTransitionTime ?? "")).toBeGreaterThan(Date.parse(lastUpdateTime));
  expect((await read(client)).status?.conditions?.map(({ type }) => type)).toEqual(["Theirs", "GardenletReady"]);

  const seed = { gardenClient: client, seedClient: client, seedName: "seed-1", stateKey: undefined, log };
  const status = createSeedStatus({ ...seed, period: 100 });
  status.start();
  await eventually(async () => expect(await ready(client)).toMatchObject({ status: "True" }));
  status.stop();
  await controller.stop();
});

test("a Seed whose clock is in 2099 is called silent at once, with the reason, and is left alone then", async ({
  cluster: { client },
}) => {
  await applyGarden(client);
  const lastUpdateTime = await heartbeat(client, (Date.now() - Date.parse("2099-01-01T00:00:00Z")) / 1000);
  let calls = 0;
  const patch: KubeClient["patch"] = (...args) => ((calls += 1), client.patch(...args));
  const controller = createSeedSilenceController({ gardenClient: { ...client, patch }, log });
  controller.start();
  await eventually(async () => expect(await ready(client)).toMatchObject({ status: "Unknown", lastUpdateTime }));
  expect((await ready(client))?.message).toContain("more than 5 minutes ahead");
  await controller.stop();
  expect(calls).toBe(1);
});

test("of the Shoots of a silent Seed it is unknown how they are, until its worker says it again", async ({
  cluster: { client },
}) => {
  await applyGarden(client);
  await heartbeat(client, 3_600);
  const here = await shootOn(client, "here", "seed-1");
  const elsewhere = await shootOn(client, "elsewhere", "seed-2");
  const created = await shootOn(client, "created", "seed-1", { type: "Create", state: "Processing" });
  const seed = { gardenClient: client, seedClient: client, seedName: "seed-1", log };
  const shootClients = { get: async () => client, close: async () => {} } as never;
  const care = createCare({
    ...{ ...seed, shootClients, period: 20 },
    snapshots: { readiness: () => ({ reached: true }) },
  });
  const caring = care.run(); // it can reach the garden, and has told it all: only its heartbeat is missing
  await eventually(async () => expect((await here())["APIServerAvailable"]?.reason).toBe("Healthy"));

  const controller = createSeedSilenceController({ gardenClient: client, log, longestSilence: 3_600_000 });
  controller.start();
  await eventually(async () =>
    expect(Object.values(await here()).filter(({ status }) => status !== "Unknown")).toMatchObject([
      { type: "Theirs" },
    ]),
  );
  expect(await here()).toMatchObject({ APIServerAvailable: doubt, HibernationPossible: doubt });
  for (const read of [elsewhere, created]) expect((await read())["APIServerAvailable"]?.status).toBe("True");

  const status = createSeedStatus({ ...seed, stateKey: undefined, onReturn: care.tellAgain, period: 100 });
  status.start();
  await eventually(async () => expect((await here())["APIServerAvailable"]?.reason).toBe("Healthy"));
  expect((await here())["HibernationPossible"]?.status).toBe("True");
  status.stop();
  care.stop();
  await Promise.all([caring, controller.stop()]);
});

const doubt = { status: "Unknown", reason: "StatusUnknown", message: expect.stringContaining("has stopped") as string };

/** A Shoot with an operation, whose conditions are True; answers with what reads them, and its constraints, by type. */
async function shootOn(
  client: KubeClient,
  name: string,
  seedName: string,
  operation: object = { type: "Reconcile", state: "Succeeded" },
) {
  const { namespace, technicalID } = await createShoot(client, name);
  const shoot = refTo(Shoot, { namespace, name });
  const spec = { shoot: await client.read(shoot), seed: {}, cloudProfile: {} };
  await client.apply({ ...typeMeta(Cluster), metadata: { name: technicalID }, spec } as never);
  const time = "2026-01-01T00:00:00Z";
  const condition = (type: string) => ({
    ...{ type, status: "True", reason: "Test", message: "" },
    ...{ lastTransitionTime: time, lastUpdateTime: time },
  });
  const status = {
    seedName,
    lastOperation: { progress: 1, description: "", lastUpdateTime: time, ...operation },
    conditions: ["Theirs", "APIServerAvailable"].map(condition),
    constraints: [condition("HibernationPossible")],
  };
  await client.patch(shoot, { status }, { subresource: "status" });
  return async (): Promise<Record<string, Condition>> => {
    const { conditions = [], constraints = [] } = (await client.read(shoot))?.status ?? {};
    return Object.fromEntries([...conditions, ...constraints].map((one) => [one.type, one]));
  };
}

/** The Seed's worker was heard of so many seconds ago; another condition is of somebody else. */
async function heartbeat(client: KubeClient, seconds: number): Promise<string> {
  const lastUpdateTime = now(new Date(Date.now() - seconds * 1000));
  const times = { lastUpdateTime, lastTransitionTime: "2026-01-01T00:00:00Z" };
  const conditions = ["Theirs", "GardenletReady"].map((type) => ({
    ...{ type, status: "True", reason: "Test", message: "" },
    ...times,
  }));
  await client.patch(ref, { status: { conditions } }, { subresource: "status" });
  return lastUpdateTime;
}

const ready = async (client: KubeClient) =>
  (await read(client)).status?.conditions?.find(({ type }) => type === "GardenletReady");

async function read(client: KubeClient): Promise<Seed> {
  const seed = await client.read(ref);
  if (!seed) throw new Error("there is no Seed");
  return seed;
}
