import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeEach, expect } from "vitest";
import {
  createKubeClient,
  createLeaseElector,
  Lease,
  microTime,
  refTo,
  typeMeta,
  type KubeClient,
  type LeaseElector,
} from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { startFaultyProxy, type FaultyProxy } from "../support/faulty-proxy.ts";

const log = createLogger({ name: "test", level: "silent" });
const timing = { expireAfter: 3_000, renewWithin: 2_000, retryEvery: 200 };
const key = { namespace: "default", name: "leader" };
const lease = refTo(Lease, key);
let controlPlane: ControlPlane;
let proxy: FaultyProxy;
let proxied: KubeClient;
let electors: LeaseElector[];
let history: string[];

test.beforeAll(async ({ cluster }) => {
  controlPlane = cluster;
  proxy = await startFaultyProxy(controlPlane.tokenKubeconfig);
  proxied = createKubeClient({ file: proxy.kubeconfigFile });
});

afterAll(async () => {
  await proxied?.close();
  await proxy?.close();
});

beforeEach(async () => {
  await controlPlane.client.remove(lease);
  electors = [];
  history = [];
});

afterEach(async () => {
  proxy.mend();
  await Promise.all(electors.map((elector) => elector.stop()));
});

/** As the usual ones, but that nothing runs out within a test. */
const patient = { ...timing, expireAfter: 120_000, renewWithin: 90_000 };

function start(identity: string, client = controlPlane.client, times = timing): LeaseElector {
  const elector = createLeaseElector({
    ...{ client, identity, timing: times, log, ...key },
    async lead(signal) {
      history.push(`${identity} leads`);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      history.push(`${identity} ended`);
    },
  });
  electors.push(elector);
  elector.start();
  return elector;
}

test("an elector that is stopped while it acquires the Lease never leads, and gives the Lease back", async () => {
  await start("a").stop();
  expect(history).toEqual([]);
  expect((await controlPlane.client.read(lease))?.spec?.holderIdentity ?? "").toBe("");
});

test("one of many candidates leads, and when it stops the next takes over at once", async () => {
  const candidates = ["a", "b", "c"].map((identity) => start(identity, controlPlane.client, patient));
  await eventually(() => candidates.some((each) => each.leading()));
  await sleep(500);
  expect(history).toHaveLength(1);
  const first = candidates.findIndex((each) => each.leading());
  await candidates[first]?.stop();
  await eventually(() => candidates.some((each) => each.leading()));
  expect(history[1]).toBe(history[0]?.replace("leads", "ended"));
  const { spec } = (await controlPlane.client.read(lease)) ?? {};
  expect(spec).toMatchObject({ leaseDurationSeconds: 120, leaseTransitions: 1 });
});

test("a leader that cannot renew has ended its work before another begins", async () => {
  const cutOff = start("cut-off", proxied);
  await eventually(() => cutOff.leading());
  start("other");
  proxy.cut();
  await eventually(() => history.length === 3);
  expect(history).toEqual(["cut-off leads", "cut-off ended", "other leads"]);
  expect(cutOff.leading()).toBe(false);
});

test("a leader leads on through an outage shorter than its lease", async () => {
  const leader = start("a", proxied, patient);
  await eventually(() => leader.leading());
  proxy.cut();
  await sleep(800); // several renewals
  const renewTime = async () => (await controlPlane.client.read(lease))?.spec.renewTime;
  const before = await renewTime();
  proxy.mend();
  await eventually(async () => expect(await renewTime()).not.toBe(before));
  expect(leader.leading()).toBe(true);
  expect(history).toEqual(["a leads"]);
});

test("a holder whose clock is wrong keeps its lease as long as it renews, and no longer", async () => {
  const { apiVersion, kind } = Lease;
  const renew = (time: number) =>
    controlPlane.client.apply<Lease>({
      ...{ apiVersion, kind, metadata: key },
      spec: { holderIdentity: "wrong clock", renewTime: microTime(new Date(time)), leaseDurationSeconds: 2 },
    });
  await renew(0);
  const candidate = start("candidate");
  for (let time = 1; time <= 16; time++) {
    await sleep(250);
    await renew(time * 1_000);
  }
  expect(candidate.leading()).toBe(false);
  const lastRenewal = performance.now(); // the candidate may see it before we are answered
  await renew(Date.now() + 3_600_000);
  await eventually(() => candidate.leading());
  expect(performance.now() - lastRenewal).toBeGreaterThan(timing.expireAfter - 50);
});

test("a candidate waits for as long as the holder's own lease lasts, be it longer than its own", async () => {
  const spec = { holderIdentity: "of another release", renewTime: microTime(), leaseDurationSeconds: 6 };
  await controlPlane.client.create<Lease>({ ...typeMeta(Lease), metadata: key, spec });
  const candidate = start("candidate");
  const seen = performance.now();
  await eventually(() => candidate.leading());
  expect(performance.now() - seen).toBeGreaterThan(5_900);
});

test("a leader whose lease was taken ends its work at the next renewal", async () => {
  const leader = start("a", controlPlane.client, patient);
  await eventually(() => leader.leading());
  await eventually(() => controlPlane.client.patch(lease, { spec: { holderIdentity: "thief" } }));
  await eventually(() => history.includes("a ended"));
});

test("a leader whose process stood still knows by its clock that it leads no longer, before any timer says so", async () => {
  const looks: string[] = [];
  const elector = createLeaseElector({
    ...{ client: controlPlane.client, identity: "paused", timing, log, ...key },
    async lead(signal, check) {
      check();
      looks.push("leads");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, timing.renewWithin + 100);
      expect(check).toThrow("Lease default/leader is not held any more");
      looks.push(`aborted: ${signal.aborted}`);
    },
  });
  electors.push(elector);
  elector.start();
  await eventually(() => looks.length >= 2);
  expect(looks.slice(0, 2)).toEqual(["leads", "aborted: true"]);
});
