import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConfigMap, typeMeta } from "../../src/kube/index.ts";
import { ensureBucket } from "../../src/local/bare/bucket.ts";
import { createLogger } from "../../src/log.ts";
import type { BareGround } from "../support/bare-machines.ts";
import {
  addressOf,
  askForBackups,
  fillDisk,
  freeDisk,
  hasSign,
  kubeconfigTo,
  leaveSign,
  moveToDiskOfItsOwn,
  stall,
  takeSnapshot,
  untilServed,
} from "../support/disasters.ts";
import { INIT, startGardenadmMachines, type GardenadmMachine } from "../support/gardenadm-machine.ts";

/** One node with a backup, which its agent would restore if it took its etcd's data for lost. */
const SET = "test-slow";
let ground: BareGround;
let a: GardenadmMachine;

beforeAll(async () => {
  const started = await startGardenadmMachines(SET, ["a"]);
  ground = started.ground;
  a = started.machines.a;
  await askForBackups(a, await ensureBucket(SET, createLogger({ name: SET, level: "warn" })));
  await a.succeed(INIT);
  await a.asAdministrator(async (client) => {
    await takeSnapshot(client, "first");
    await leaveSign(client, "after-the-snapshot");
  });
});

afterAll(async () => {
  await ground.stop();
});

/** In ms: longer than an agent waits for an etcd before it looks at its data, and than that look may take. */
const LONG = 120_000;

const report = (figure: string, seconds: number) => process.stderr.write(`figure: ${figure}: ${seconds} s\n`);

/** The etcd has the data that it had, and nothing was put aside. */
async function isUntouched(known: Readonly<Record<string, string>>): Promise<void> {
  expect(await a.etcds()).toEqual(known);
  for (const role of ["main", "events"]) {
    const beside = await readdir(join(await a.root(), `/var/lib/etcd-${role}/data`));
    expect(beside.filter((name) => name.startsWith("new.etcd."))).toEqual([]);
  }
}

test("an etcd that answers nothing for minutes is not restored, and goes on", async () => {
  const known = await a.etcds();
  const kubeconfig = await kubeconfigTo(a);
  await stall(a, LONG);
  await isUntouched(known);
  report("one node: an etcd that was stopped goes on to API", await untilServed(kubeconfig, [await addressOf(a)]));
  await isUntouched(known);
  await a.asAdministrator(async (client) => expect(await hasSign(client, "after-the-snapshot")).toBe(true));
});

test("an etcd whose disk is full for minutes is not restored, and goes on by itself when there is space", async () => {
  await moveToDiskOfItsOwn(a);
  const kubeconfig = await kubeconfigTo(a);
  const address = await addressOf(a);
  await untilServed(kubeconfig, [address]);
  const known = await a.etcds();
  await fillDisk(a);
  await a.asAdministrator(async (client) => {
    const large = async (name: string) =>
      await client.create<ConfigMap>({
        ...typeMeta(ConfigMap),
        metadata: { namespace: "default", name },
        data: { large: "x".repeat(500_000) },
      });
    const began = performance.now();
    const written: boolean[] = [];
    while (performance.now() - began < LONG) {
      written.push(await large(`large-${written.length}`).then(Boolean, () => false));
      await delay(500);
    }
    expect(written.slice(-3), `of ${written.length} writes while the disk was full`).toEqual([false, false, false]);
  });
  await isUntouched(known);
  await freeDisk(a);
  report("one node: disk has space to API", await untilServed(kubeconfig, [address], 600_000));
  await isUntouched(known);
  await a.asAdministrator(async (client) => expect(await hasSign(client, "after-the-snapshot")).toBe(true));
});
