import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { API_SERVER_MARK } from "../../src/api/names.ts";
import { isReady } from "../../src/activities/waits/readiness.ts";
import { Node, Secret } from "../../src/kube/index.ts";
import { ensureBucket } from "../../src/local/bare/bucket.ts";
import { createLogger } from "../../src/log.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { etcdMembers } from "../support/cluster-world.ts";
import {
  addressOf,
  askForBackups,
  configurationOf,
  giveKept,
  hasSign,
  kubeconfigTo,
  leaveSign,
  secondsSince,
  serves,
  takeSnapshot,
} from "../support/disasters.ts";
import { eventually } from "../support/eventually.ts";
import { INIT, startGardenadmMachines, type GardenadmMachine } from "../support/gardenadm-machine.ts";

const SET = "test-all-lost";

let ground: BareGround;
let machines: Readonly<Record<"a" | "b" | "c" | "d" | "w", GardenadmMachine>>;

beforeAll(async () => {
  ({ ground, machines } = await startGardenadmMachines(SET, ["a", "b", "c", "d", "w"]));
  const { a, b, c, w } = machines;
  await askForBackups(a, await ensureBucket(SET, createLogger({ name: SET, level: "warn" })));
  await a.succeed(INIT);
  for (const machine of [b, c]) await machine.succeed(await a.invite("control-plane"));
  await w.succeed(await a.invite("worker"));
});

afterAll(async () => {
  await ground.stop();
});

const report = (figure: string, seconds: number) => process.stderr.write(`figure: ${figure}: ${seconds} s\n`);

test("all three are lost: another machine takes over, two join it, and the worker goes on with them", async () => {
  const { a, b, c, d, w } = machines;
  const kubeconfig = await kubeconfigTo(a);
  const kept = await configurationOf(a);
  const known = await a.identity();
  const lost = await addressOf(c);
  await a.asAdministrator(async (client) => {
    await leaveSign(client, "kept");
    await takeSnapshot(client, "all-lost");
    await leaveSign(client, "written-since");
  });
  await Promise.all([a, b, c].map(async ({ name }) => await ground.machines.cutPower(name)));

  await giveKept(d, kept);
  const began = performance.now();
  await d.succeed({ words: ["restore", "-d", "/root/config", "--from", "latest"] });
  report("three lost: restore on a fresh machine", secondsSince(began));
  expect(await d.identity()).toEqual(known);
  await Promise.all([a.wipe(), b.wipe()]);
  for (const machine of [a, b]) await machine.succeed(await d.invite("control-plane"));
  report("three lost: to three voters again", secondsSince(began));

  const voters = ["a", "b", "d"].map((name) => ({ name, isLearner: false }));
  expect(await etcdMembers(d)).toEqual({ main: voters, events: voters });
  for (const { name } of [a, b, d])
    expect(await serves(kubeconfig, await addressOf(machines[name as "a"])), name).toBe(true);
  await d.asAdministrator(async (client) => {
    expect([await hasSign(client, "kept"), await hasSign(client, "written-since")]).toEqual([true, false]);
    const ready = async () => (await client.list(Node)).filter(isReady).map(({ metadata }) => metadata.name);
    await eventually(async () => expect(await ready()).toEqual(["a", "b", "d", "w"]), 300_000);
    const ofLost = (await client.list(Secret, { namespace: "kube-system" })).filter(({ metadata }) =>
      /(^|[-.])c$/.test(metadata.name),
    );
    expect(ofLost.map(({ metadata }) => metadata.name)).toEqual([]);
  });
  report("three lost: to the worker ready", secondsSince(began));
  for (const machine of [a, b, d, w]) {
    const lines = async () => (await readFile(join(await machine.root(), "/etc/hosts"), "utf8")).split("\n");
    const ways = async () => (await lines()).filter((line) => line.endsWith(API_SERVER_MARK));
    await eventually(async () => expect((await ways()).join("\n")).not.toContain(`${lost} `), 120_000);
    expect(await ways(), machine.name).not.toEqual([]);
  }
});
