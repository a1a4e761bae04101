import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isReady } from "../../src/activities/waits/readiness.ts";
import { joinControlPlane } from "../../src/gardenadm/join/join-control-plane.ts";
import { joinWorker } from "../../src/gardenadm/join/join-worker.ts";
import { Node } from "../../src/kube/index.ts";
import { queryRecords } from "../../src/provider-local/dns/name-server.ts";
import { reconcileSelfHosted } from "../../src/workflows/reconcile-self-hosted.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { etcdMembers } from "../support/cluster-world.ts";
import { addressOf } from "../support/disasters.ts";
import { eventually } from "../support/eventually.ts";
import { apiRecord, askNameServer } from "../support/exposed-by-dns.ts";
import { INIT, startGardenadmMachines, type GardenadmMachine } from "../support/gardenadm-machine.ts";
import type { TestNameServer } from "../support/name-server.ts";

const SET = "test-away";

let ground: BareGround;
let machines: Readonly<Record<"a" | "b" | "v" | "w", GardenadmMachine>>;
let names: TestNameServer;

beforeAll(async () => {
  ({ ground, machines } = await startGardenadmMachines(SET, ["a", "b", "v", "w"]));
  names = await askNameServer(SET, ground, machines.a);
});

afterAll(async () => {
  await names.stop();
  await ground.stop();
});

/** In ms: what an operator's reboot of something takes. */
const MINUTE = 60_000;

async function withoutNames(): Promise<void> {
  await names.kill();
  await delay(MINUTE);
  await names.restart();
}

async function withoutFirstNode(): Promise<void> {
  await ground.machines.cutPower("a");
  await delay(MINUTE);
  await ground.machines.on("a");
}

async function areReady(nodes: readonly string[]): Promise<void> {
  await machines.a.asAdministrator(async (client) => {
    const ready = async () => (await client.list(Node)).filter(isReady).map(({ metadata }) => metadata.name);
    await eventually(async () => expect(await ready()).toEqual(nodes), 120_000);
  });
}

test("init exposes its control plane when the name server, which was away for a minute, is back", async () => {
  const { a } = machines;
  const exposure = { flow: reconcileSelfHosted.title, step: "exposure" };
  for (const by of ["SIGKILL", "power cut"] as const)
    expect(await a.interrupt(INIT, exposure, by), by).toBe("interrupted");
  await a.succeedDespite(withoutNames, INIT, exposure);
  expect(await queryRecords(names.server, apiRecord)).toEqual([await addressOf(a)]);
});

test("a worker whose API server has no address for a minute joins when it has one again", async () => {
  const { a, w } = machines;
  await w.succeedDespite(withoutNames, await a.invite("worker"), { flow: joinWorker.title, step: "nodeAgent" });
  await areReady(["a", "w"]);
});

test("a worker joins when the node to which it joins is on again after a minute", async () => {
  const { a, v } = machines;
  await v.succeedDespite(withoutFirstNode, await a.invite("worker"), { flow: joinWorker.title, step: "place" });
  await areReady(["a", "v", "w"]);
});

test("a node of the control plane joins when the only other one is on again after a minute", async () => {
  const { a, b } = machines;
  const row = { flow: joinControlPlane.title, step: "learners" };
  await b.succeedDespite(withoutFirstNode, await a.invite("control-plane"), row);
  const voters = ["a", "b"].map((name) => ({ name, isLearner: false }));
  for (const machine of [a, b]) expect(await etcdMembers(machine)).toEqual({ main: voters, events: voters });
  await areReady(["a", "b", "v", "w"]);
});
