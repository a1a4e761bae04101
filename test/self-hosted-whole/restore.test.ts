import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isReady } from "../../src/activities/waits/readiness.ts";
import { restoreFromBackup } from "../../src/gardenadm/restore/restore-from-backup.ts";
import { ConfigMap, Event, Node } from "../../src/kube/index.ts";
import { ensureBucket, stopBucket } from "../../src/local/bare/bucket.ts";
import { findSet } from "../../src/local/bare/set.ts";
import { createLogger } from "../../src/log.ts";
import { reconcileSelfHosted } from "../../src/workflows/reconcile-self-hosted.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { etcdMembers } from "../support/cluster-world.ts";
import {
  addressOf,
  askForBackups,
  configurationOf,
  damage,
  giveKept,
  hasSign,
  kubeconfigTo,
  leaveSign,
  loseUnwatched,
  secondsSince,
  takeSnapshot,
  untilServed,
} from "../support/disasters.ts";
import { eventually } from "../support/eventually.ts";
import { INIT, startGardenadmMachines, type GardenadmMachine } from "../support/gardenadm-machine.ts";
import { rowsOf, type Interruption } from "../support/interruption.ts";

const SET = "test-restore";

let ground: BareGround;
let machines: Readonly<Record<"a" | "b" | "w", GardenadmMachine>>;
/** What an operator has kept: the configuration with its key, and an administrator's kubeconfig. */
let kept = "";
let kubeconfig = "";
/** What was made once. */
let known: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  ({ ground, machines } = await startGardenadmMachines(SET, ["a", "b", "w"]));
  const { a, w } = machines;
  await askForBackups(a, await ensureBucket(SET, createLogger({ name: SET, level: "warn" })));
  await a.succeed(INIT);
  await w.succeed(await a.invite("worker"));
  kept = await configurationOf(a);
  kubeconfig = await kubeconfigTo(a);
  known = await a.identity();
});

afterAll(async () => {
  await ground.stop();
});

const RESTORE = { words: ["restore", "-d", "/root/config", "--from", "latest"] };

async function refused(machine: GardenadmMachine, ...words: readonly string[]): Promise<string> {
  const { code, stderr } = await machine.gardenadm("restore", "-d", "/root/config", ...words);
  expect(code, `gardenadm restore ${words.join(" ")}: ${stderr}`).not.toBe(0);
  return stderr;
}

/** Seconds until the API server of a machine serves. */
const served = async (machine: GardenadmMachine) => await untilServed(kubeconfig, [await addressOf(machine)]);

const report = (figure: string, seconds: number) => process.stderr.write(`figure: ${figure}: ${seconds} s\n`);

test("a power cut in the middle of a roll-out leaves a machine that serves again by itself, and init ends the roll-out", async () => {
  const { a } = machines;
  const file = join(await a.root(), "/root/config/shoot-root.yaml");
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace("version: 1.34.4", "version: 1.34.4\n    kubeAPIServer:\n      eventTTL: 2h0m0s"));
  expect(await a.interrupt(INIT, { flow: reconcileSelfHosted.title, step: "staticPods" }, "power cut")).toBe(
    "interrupted",
  );
  report("one node: machine on to API, after a power cut", await served(a));
  await a.succeed(INIT);
  expect(await a.identity()).toEqual(known);
  expect(await readFile(join(await a.root(), "/etc/kubernetes/manifests/kube-apiserver.yaml"), "utf8")).toContain(
    "--event-ttl=2h",
  );
  kept = await configurationOf(a);
});

test.each<Interruption>(["SIGKILL", "power cut"])(
  "backups are set up also where a %s has ended init there",
  async (by) => {
    const { a } = machines;
    const row = { flow: reconcileSelfHosted.title, step: "etcdBackup" };
    expect(await a.interrupt(INIT, row, by)).toBe("interrupted");
    await a.succeed(INIT);
  },
);

test("where the data of the only etcd are damaged, the agent restores the last backup and says what is lost", async () => {
  const { a } = machines;
  await a.asAdministrator(async (client) => {
    await leaveSign(client, "before");
    await takeSnapshot(client, "first");
    await leaveSign(client, "after");
  });
  await damage(a, "main");
  const began = performance.now();
  await eventually(async () => (await asides("main")).length > 0, 300_000);
  report("one node: data damaged to restored", secondsSince(began));
  await served(a);
  report("one node: data damaged to API", secondsSince(began));
  await a.asAdministrator(async (client) => {
    expect([await hasSign(client, "before"), await hasSign(client, "after")]).toEqual([true, false]);
    await leaveSign(client, "later");
    const { metadata } = (await client.read(ConfigMap, { namespace: "default", name: "later" })) ?? expect.fail();
    expect(Number(metadata.resourceVersion)).toBeGreaterThan(1_000_000_000);
    const lost =
      /the data in \S+ is damaged: .*: etcd-main goes on from snapshot first-\S+\.db of \S+, and what was written since is lost; the old data are in \/var\/lib\/etcd-main\/data\/new\.etcd\.\S+$/;
    await eventually(async () => expect(await conditionOf(client, "EtcdDataRestored")).toMatch(lost), 180_000);
    await eventually(async () => {
      const events = await client.list(Event, { namespace: "default" });
      expect(events.filter(({ reason }) => reason === "EtcdDataRestored").map(({ note }) => note)).toEqual([
        expect.stringMatching(lost),
      ]);
    }, 60_000);
  });
  await a.succeed(INIT);
});

const asides = async (role: string): Promise<string[]> =>
  (await readdir(join(await machines.a.root(), `/var/lib/etcd-${role}/data`))).filter((name) =>
    name.startsWith("new.etcd."),
  );

async function conditionOf(client: Parameters<typeof hasSign>[0], type: string): Promise<string> {
  const node = await client.read(Node, { name: "a" });
  return (node?.status?.conditions ?? []).find((each) => each.type === type)?.message ?? "";
}

test("where only the events are lost, they begin anew, and nothing else", async () => {
  const { a } = machines;
  await loseUnwatched(a, "events");
  await a.asAdministrator(async (client) => {
    await eventually(
      async () =>
        expect(await conditionOf(client, "EtcdEventsRestored")).toMatch(
          /there is no data in \S+, and there was: events are lost/,
        ),
      240_000,
    );
    expect(await hasSign(client, "later")).toBe(true);
    expect(await conditionOf(client, "EtcdDataRestored")).toContain("etcd-main goes on from snapshot");
  });
  expect(await asides("main")).toHaveLength(1);
});

test("without the key, from another Shoot's backup, or over a control plane that runs, nothing is restored", async () => {
  const { a, b } = machines;
  expect(await refused(a, "--from", "latest")).toContain(
    "this machine carries a control plane already, and its data would be lost: restore on a fresh machine",
  );
  await giveKept(b, kept, ".backup-keys.json");
  expect(await refused(b, "--from", "latest")).toMatch(/\.backup-keys\.json/);
  await giveKept(b, kept);
  expect(await refused(b, "--from", "none")).toMatch(/bucket backups has no snapshot none with its bundle/);
  await ground.inMachine("b", "sed", "-i", "s/^  name: root$/  name: other/", "/root/config/shoot-root.yaml");
  expect(await refused(b, "--from", "latest")).toContain(
    "the backup is of Shoot garden/root, and the configuration is of garden/other: take the one that belongs to it",
  );
  const root = await b.root();
  expect(await readdir(join(root, "/etc/kubernetes/manifests")).catch(() => [])).toEqual([]);
  expect((await readdir(join(root, "/var/lib"))).filter((name) => name.startsWith("etcd-"))).toEqual([]);
  expect(await b.identity()).toEqual({});
});

test.each<[Interruption, string]>([
  ["SIGKILL", "second"],
  ["power cut", "third"],
])(
  "a machine with an empty disk is the control plane again, also when a %s ended the restore at every row",
  async (by, sign) => {
    const { a } = machines;
    await a.asAdministrator(async (client) => {
      await leaveSign(client, sign);
      await takeSnapshot(client, sign);
    });
    await a.wipe();
    await giveKept(a, kept);
    for (const row of rowsOf(restoreFromBackup, { imported: false }))
      expect(await a.interrupt(RESTORE, row, by), row.step).toBe("interrupted");
    await a.succeed(RESTORE);
    expect(await a.identity()).toEqual(known);
    await goesOn(a, ["a", "w"], sign);
  },
);

test("a restore goes on by itself when its object store, which was away for a minute, is back", async () => {
  const { a } = machines;
  await a.wipe();
  await giveKept(a, kept);
  const log = createLogger({ name: SET, level: "warn" });
  await stopBucket((await findSet(SET)) ?? expect.fail("there is no set"), log);
  const back = async () => {
    await delay(60_000);
    await ensureBucket(SET, log);
  };
  await a.succeedDespite(back, RESTORE, { flow: restoreFromBackup.title, step: "source" });
  expect(await a.identity()).toEqual(known);
});

/** The cluster is on this machine, with these nodes, all ready, and what was there when the last snapshot was taken. */
async function goesOn(machine: GardenadmMachine, nodes: readonly string[], sign: string): Promise<void> {
  const voters = [{ name: machine.name, isLearner: false }];
  expect(await etcdMembers(machine)).toEqual({ main: voters, events: voters });
  await served(machine); // by the kubeconfig of before
  await machine.asAdministrator(async (client) => {
    expect(await hasSign(client, sign)).toBe(true);
    const ready = async () => (await client.list(Node)).filter(isReady).map(({ metadata }) => metadata.name);
    await eventually(async () => expect(await ready()).toEqual(nodes), 180_000);
  });
}

test("another machine, with a copy of a snapshot and the key, takes over, and the worker goes on with it", async () => {
  const { a, b, w } = machines;
  await a.asAdministrator(async (client) => {
    await leaveSign(client, "fourth");
    await takeSnapshot(client, "fourth");
  });
  await ground.machines.cutPower("a");
  await giveKept(b, kept);
  await ground.inMachine("b", "mv", "/root/config/.backup-keys.json", "/root/keys.json");
  const [snapshot] = await copySnapshot("fourth");
  const began = performance.now();
  const words = ["restore", "-d", "/root/config", "--from", `/root/${snapshot}`, "--key", "/root/keys.json"];
  await Promise.all([
    b.succeed({ words }),
    served(b).then(() => report("one node: restore begins to API", secondsSince(began))),
  ]);
  report("one node: restore begins to its end", secondsSince(began));
  expect(await b.identity()).toEqual(known);
  await w.succeed(await b.invite("worker"));
  await goesOn(b, ["b", "w"], "fourth");
});

/** Brings a snapshot and its bundle out of the bucket to machine b, as one brings them from off site. */
async function copySnapshot(name: string): Promise<string[]> {
  const set = (await findSet(SET)) ?? expect.fail("there is no set");
  const folder = join(set.stateDir, "bucket/buckets/backups");
  const found = (await readdir(folder, { recursive: true })).filter((file) => file.includes(`/${name}-`)).toSorted();
  const names = found.map((file) => file.slice(file.lastIndexOf("/") + 1));
  for (const [index, file] of found.entries())
    await writeFile(join(await machines.b.root(), "root", names[index] ?? ""), await readFile(join(folder, file)));
  return names;
}
