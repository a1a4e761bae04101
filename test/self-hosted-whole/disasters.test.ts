import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isReady } from "../../src/activities/waits/readiness.ts";
import { joinControlPlane } from "../../src/gardenadm/join/join-control-plane.ts";
import { restoreFromMember } from "../../src/gardenadm/restore/restore-from-member.ts";
import { Node, refOf } from "../../src/kube/index.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { etcdMembers } from "../support/cluster-world.ts";
import {
  addressOf,
  damage,
  hasSign,
  kubeconfigTo,
  leaveSign,
  loseUnwatched,
  secondsSince,
  serves,
  untilServed,
} from "../support/disasters.ts";
import { eventually } from "../support/eventually.ts";
import { INIT, startGardenadmMachines, type GardenadmMachine } from "../support/gardenadm-machine.ts";
import { rowsOf } from "../support/interruption.ts";

type Name = "a" | "b" | "c";

let ground: BareGround;
let machines: Readonly<Record<Name, GardenadmMachine>>;
/** An administrator's, of before. */
let kubeconfig = "";
/** What was made once. */
let known: Readonly<Record<string, string>> = {};
let addresses: Readonly<Record<Name, string>>;

beforeAll(async () => {
  ({ ground, machines } = await startGardenadmMachines("test-disasters", ["a", "b", "c"]));
  const { a, b, c } = machines;
  await a.succeed(INIT);
  for (const machine of [b, c]) await machine.succeed(await a.invite("control-plane"));
  kubeconfig = await kubeconfigTo(a);
  known = await a.identity();
  addresses = { a: await addressOf(a), b: await addressOf(b), c: await addressOf(c) };
});

afterAll(async () => {
  await ground.stop();
});

const ALL = ["a", "b", "c"] as const;
const voters = (names: readonly Name[]) => names.map((name) => ({ name, isLearner: false }));
const report = (figure: string, seconds: number) => process.stderr.write(`figure: ${figure}: ${seconds} s\n`);

/** The data of these machines' etcds: ids of clusters and members, and when they were begun. */
const etcdsOf = async (names: readonly Name[]) =>
  await Promise.all(names.map(async (name) => await machines[name].etcds()));

/** Without the member and its data, which come anew with a disk. */
const clusterOf = (etcd = ""): string => etcd.split(",")[0] ?? "";

/** Both etcds have these members, with a vote, and the cluster these nodes of the control plane, all ready. */
async function isWhole(by: Name, names: readonly Name[]): Promise<void> {
  for (const name of names) expect(await machines[name].identity(), name).toEqual(known);
  const members = { main: voters(names), events: voters(names) };
  await eventually(async () => expect(await etcdMembers(machines[by])).toEqual(members), 120_000);
  await machines[by].asAdministrator(async (client) => {
    const ready = async () => (await client.list(Node)).filter(isReady).map(({ metadata }) => metadata.name);
    await eventually(async () => expect(await ready()).toEqual(names), 180_000);
  });
}

test("while one of three machines is off, a client that tries all addresses goes on", async () => {
  const members = await etcdsOf(ALL);
  let [longest, last] = [0, performance.now()];
  let over = false;
  const asking = (async () => {
    while (!over) {
      const answers = await Promise.any(
        Object.values(addresses).map(
          async (address) => (await serves(kubeconfig, address)) || Promise.reject(new Error()),
        ),
      ).catch(() => false);
      const now = performance.now();
      if (answers) [longest, last] = [Math.max(longest, now - last), now];
      await delay(200);
    }
  })();
  await delay(1_000);
  await ground.machines.cutPower("a");
  await delay(30_000);
  over = true;
  await asking;
  longest = Math.max(longest, performance.now() - last);
  report("one of three off: longest gap", Math.round(longest / 100) / 10);
  expect(longest).toBeLessThan(10_000);
  await machines.b.asAdministrator(async (client) => await leaveSign(client, "while-a-was-off"));
  await ground.machines.on("a");
  await untilServed(kubeconfig, [addresses.a]);
  await isWhole("b", ALL);
  expect(await etcdsOf(ALL)).toEqual(members);
});

test("all machines begin again at once, with a webhook that has to be asked and has no pods", async () => {
  const members = await etcdsOf(ALL);
  await machines.a.asAdministrator(async (client) => await client.create(WEBHOOK));
  await Promise.all(ALL.map(async (name) => await ground.machines.cutPower(name)));
  await Promise.all(ALL.map(async (name) => await ground.machines.on(name)));
  const began = performance.now();
  await untilServed(kubeconfig, Object.values(addresses));
  report("three on again at once: to the first API", secondsSince(began));
  for (const name of ALL) await untilServed(kubeconfig, [addresses[name]]);
  report("three on again at once: to all APIs", secondsSince(began));
  await isWhole("a", ALL);
  expect(await etcdsOf(ALL)).toEqual(members);
  await machines.a.asAdministrator(async (client) => await client.remove(refOf(WEBHOOK)));
});

const WEBHOOK = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: "has-to-be-asked" },
  webhooks: [
    {
      name: "has-to-be-asked.perennial.dev",
      clientConfig: { service: { namespace: "default", name: "has-no-pods" } },
      rules: [
        {
          apiGroups: ["", "apps"],
          apiVersions: ["v1"],
          operations: ["*"],
          resources: ["pods", "deployments", "nodes"],
        },
      ],
      failurePolicy: "Fail",
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      timeoutSeconds: 1,
    },
  ],
} as const;

test("a member whose data are damaged leaves, and learns anew, without a command", async () => {
  const { a, c } = machines;
  const [others, before] = [await etcdsOf(["a", "b"]), await c.etcds()];
  await damage(c, "main");
  const began = performance.now();
  await a.asAdministrator(async (client) => await leaveSign(client, "while-c-was-damaged"));
  await hasLearnt("c", /is damaged: .*: etcd-main has learnt anew from the other members, and nothing is lost/);
  report("three: data damaged to a voter again", secondsSince(began));
  await isWhole("a", ALL);
  expect(await etcdsOf(["a", "b"])).toEqual(others);
  const after = await c.etcds();
  expect(after["etcd-events"]).toBe(before["etcd-events"]);
  expect(clusterOf(after["etcd-main"])).toBe(clusterOf(before["etcd-main"]));
  expect(after["etcd-main"]).not.toBe(before["etcd-main"]);
  await c.asAdministrator(async (client) => expect(await hasSign(client, "while-c-was-damaged")).toBe(true));
});

test("a member whose data are gone while no agent looks has no vote, and learns anew as soon as one does", async () => {
  const { a, b } = machines;
  await loseUnwatched(b, "main");
  const began = performance.now();
  await a.asAdministrator(async (client) => await leaveSign(client, "while-b-had-nothing"));
  await hasLearnt("b", /there is no data in \S+, and there was: etcd-main has learnt anew from the other members/);
  report("three: agent on after a loss to a voter again", secondsSince(began));
  await isWhole("a", ALL);
  await b.asAdministrator(async (client) => expect(await hasSign(client, "while-b-had-nothing")).toBe(true));
});

test("a member that has its data and not its log does not vote as if it had agreed to nothing, and learns anew", async () => {
  const { a, c } = machines;
  await loseUnwatched(c, "main", "log");
  await a.asAdministrator(async (client) => await leaveSign(client, "while-c-had-no-log"));
  await hasLearnt("c", /its write-ahead log is gone: etcd-main has learnt anew from the other members/);
  await isWhole("a", ALL);
  await c.asAdministrator(async (client) => expect(await hasSign(client, "while-c-had-no-log")).toBe(true));
});

/** The Node says so of its machine's etcd-main. */
async function hasLearnt(name: Name, words: RegExp): Promise<void> {
  await machines.a.asAdministrator(async (client) => {
    const message = async () =>
      ((await client.read(Node, { name }))?.status?.conditions ?? []).find(({ type }) => type === "EtcdDataRestored")
        ?.message;
    await eventually(async () => expect(await message()).toMatch(words), 300_000);
  });
}

test("a machine with an empty disk takes its place again by a join", async () => {
  const { a, b } = machines;
  const [others, before] = [await etcdsOf(["a", "c"]), await b.etcds()];
  await b.wipe();
  const invitation = await a.invite("control-plane");
  for (const step of ["staleMember", "learners"])
    for (const by of ["SIGKILL", "power cut"] as const)
      expect(await b.interrupt(invitation, { flow: joinControlPlane.title, step }, by), `${by} in ${step}`).toBe(
        "interrupted",
      );
  const began = performance.now();
  await b.succeed(invitation);
  report("three: join in place of a lost disk, after the last kill", secondsSince(began));
  await isWhole("a", ALL);
  expect(await etcdsOf(["a", "c"])).toEqual(others);
  const after = await b.etcds();
  for (const role of ["etcd-main", "etcd-events"]) expect(clusterOf(after[role]), role).toBe(clusterOf(before[role]));
});

test("the survivor of three becomes a control plane of its own, killed at every row, and others join it", async () => {
  const { a, b, c } = machines;
  await a.asAdministrator(async (client) => await leaveSign(client, "last"));
  await Promise.all([ground.machines.cutPower("a"), ground.machines.cutPower("b")]);
  // Its events are damaged besides, which is no reason to lose the rest.
  await damage(c, "events");
  const words = ["restore", "-d", "/root/config", "--from", "member"];
  const { code, stderr } = await c.gardenadm(...words);
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/quorum may come back: member [ab] .* and member [ab] .* may only be off or cut off/);
  const command = { words: [...words, "--yes-quorum-is-lost"] };
  for (const row of rowsOf(restoreFromMember, undefined))
    for (const by of ["SIGKILL", "power cut"] as const)
      expect(await c.interrupt(command, row, by), `${by} in ${row.step}`).toBe("interrupted");
  const began = performance.now();
  await c.succeed(command);
  report("survivor: command after the last kill", secondsSince(began));
  await isWhole("c", ["c"]);
  await c.asAdministrator(async (client) => {
    for (const sign of ["while-a-was-off", "while-c-was-damaged", "last"])
      expect(await hasSign(client, sign), sign).toBe(true);
  });
  await Promise.all([a.wipe(), b.wipe()]);
  for (const machine of [a, b]) await machine.succeed(await c.invite("control-plane"));
  await isWhole("c", ALL);
  await c.succeed(INIT);
});
