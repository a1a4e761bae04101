import { expect } from "vitest";
import { Seed } from "../../src/api/index.ts";
import { createSeedSilenceController } from "../../src/controllers/seed-silence.ts";
import { now, refTo, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createSeedStatus } from "../../src/worker/seed-status.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { applyGarden } from "../support/garden-objects.ts";

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
