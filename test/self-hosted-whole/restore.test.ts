import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isReady } from "../../src/activities/waits/readiness.ts";
import { restoreFromBackup } from "../../src/gardenadm/restore/restore-from-backup.ts";
import { ExtensionBackupBucket, ExtensionBackupEntry } from "../../src/api/index.ts";
import { ConfigMap, Event, Node, refTo, Secret } from "../../src/kube/index.ts";
import { ensureBucket, stopBucket } from "../../src/local/bare/bucket.ts";
import { CONFIGURATION_FOLDER } from "../../src/local/bare/configuration.ts";
import { findSet } from "../../src/local/bare/set.ts";
import { createLogger } from "../../src/log.ts";
import { reconcileSelfHosted, type SelfHostedRun } from "../../src/workflows/reconcile-self-hosted.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { startBackupExtension } from "../support/backup-extension.ts";
import { etcdMembers, fileOf, restingWorld } from "../support/cluster-world.ts";
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
import { findWords, hiddenWords, recordProcesses } from "../support/said-words.ts";
import { contentsOf, objectsOf, orphansIn, orphansOn } from "../support/undisturbed.ts";

const SET = "test-restore";

let ground: BareGround;
let machines: Readonly<Record<"a" | "b" | "w", GardenadmMachine>>;
/** What an operator has kept: the configuration with its key, and an administrator's kubeconfig. */
let kept = "";
let kubeconfig = "";
/** What a cluster has before anything of it is restored. */
let undisturbed: { readonly files: Readonly<Record<string, string>>; readonly objects: readonly string[] };
/** What was made once. */
let known: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  ({ ground, machines } = await startGardenadmMachines(SET, ["a", "b", "w"]));
  const { a, w } = machines;
  const bucket = await ensureBucket(SET, createLogger({ name: SET, level: "warn" }));
  hidden.push(bucket.secretAccessKey);
  await askForBackups(a, bucket);
  const invitation = await listed(a, async () => {
    await a.succeed(INIT);
    return await a.invite("worker");
  });
  hidden.push(invitation.stdin.slice(7));
  await listed(w, async () => await w.succeed(invitation));
  kept = await configurationOf(a);
  kubeconfig = await kubeconfigTo(a);
  known = await a.identity();
});

afterAll(async () => {
  await ground.stop();
});

/** Tokens and keys that nothing may show, and what process lists have shown while commands ran. */
const hidden: string[] = [];
const processes: string[] = [];

async function listed<T>(machine: GardenadmMachine, work: () => Promise<T>): Promise<T> {
  const record = recordProcesses(machine);
  try {
    return await work();
  } finally {
    processes.push(await record.stop());
  }
}

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
  await editShoot("version: 1.34.4", "version: 1.34.4\n    kubeAPIServer:\n      eventTTL: 2h0m0s");
  expect(await a.interrupt(INIT, { flow: reconcileSelfHosted.title, step: "staticPods" }, "power cut")).toBe(
    "interrupted",
  );
  report("one node: machine on to API, after a power cut", await served(a));
  await a.succeed(INIT);
  expect(await a.identity()).toEqual(known);
  await hasFlag("--event-ttl=2h");
  kept = await configurationOf(a);
});

/** Changes the Shoot in the configuration on a. */
async function editShoot(before: string, after: string): Promise<void> {
  const file = join(await machines.a.root(), CONFIGURATION_FOLDER, "shoot-root.yaml");
  const text = await readFile(file, "utf8");
  expect(text).toMatch(new RegExp(before));
  await writeFile(file, text.replace(new RegExp(before), after));
}

async function hasFlag(flag: string): Promise<void> {
  expect(await fileOf(machines.a, "/etc/kubernetes/manifests/kube-apiserver.yaml")).toContain(flag);
}

/** What a run finds of this cluster when its first node has a pod network. */
const LATER_RUN: SelfHostedRun = {
  podNetworkMissing: false,
  hasKubeProxy: true,
  offered: ["Network", "OperatingSystemConfig", "ControlPlane"],
  hasBackup: true,
};

describe.each<Interruption>(["SIGKILL", "power cut"])("by %s", (by) => {
  test("a change of the configuration is given to init", async () => {
    await editShoot("eventTTL: [23]h0m0s", `eventTTL: ${by === "SIGKILL" ? 3 : 4}h0m0s`);
  });

  test.each(rowsOf(reconcileSelfHosted, LATER_RUN))(
    "init again that was ended in $step changes no key",
    async (row) => {
      const { a } = machines;
      const etcds = await a.etcds();
      expect(await a.interrupt(INIT, row, by)).toBe("interrupted");
      expect(await a.identity()).toEqual(known);
      expect(await a.etcds()).toEqual(etcds);
    },
  );

  test("the change is there when init has ended", async () => {
    const { a } = machines;
    await a.succeed(INIT);
    await hasFlag(by === "SIGKILL" ? "--event-ttl=3h" : "--event-ttl=4h");
    kept = await configurationOf(a);
  });
});

test("what a machine has before it is lost is known", async () => {
  const { a } = machines;
  await a.succeed(INIT);
  await restingWorld(a);
  undisturbed = { files: await contentsOf(a), objects: await lastingObjects() };
});

/** Without what the tests themselves write. */
const lastingObjects = async () =>
  (await objectsOf(machines.a)).filter((key) => !/^\/registry\/(jobs|configmaps\/default)\//.test(key));

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

describe.each<[Interruption, string]>([
  ["SIGKILL", "second"],
  ["power cut", "third"],
])("by %s", (by, sign) => {
  let etcds: Readonly<Record<string, string>> = {};

  test("a machine has lost its disk", async () => {
    const { a } = machines;
    await a.asAdministrator(async (client) => {
      await leaveSign(client, sign);
      await takeSnapshot(client, sign);
    });
    await a.wipe();
    await giveKept(a, kept);
  });

  const rows = [...rowsOf(restoreFromBackup, { imported: false }), ...rowsOf(reconcileSelfHosted, LATER_RUN)];
  const restored = rows.findIndex(({ step }) => step === "machine");
  test.each(rows.map((row, index) => ({ ...row, isRestored: index > restored })))(
    'a restore that was ended in $step of "$flow" has the keys of before',
    async ({ isRestored, ...row }) => {
      const { a } = machines;
      expect(await a.interrupt(RESTORE, row, by)).toBe("interrupted");
      expect(known).toMatchObject(await a.identity());
      const now = await a.etcds();
      if (isRestored) expect(now).toMatchObject(etcds);
      etcds = now;
    },
  );

  test("a machine with an empty disk is the control plane again, also when its restore was ended at every row", async () => {
    const { a } = machines;
    await a.succeed(RESTORE);
    expect(await a.identity()).toEqual(known);
    expect(await a.etcds()).toEqual(etcds);
    await goesOn(a, ["a", "w"], sign);
    await eventually(async () => expect(await contentsOf(a)).toEqual(undisturbed.files), 60_000);
    await eventually(async () => expect(await lastingObjects()).toEqual(undisturbed.objects), 120_000);
    await a.asAdministrator(async (client) => {
      await eventually(async () => expect(await orphansOn(a, client)).toEqual([]), 180_000);
      expect(await orphansIn(client)).toEqual([]);
    });
  });
});

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
  await listed(a, async () => {
    await a.succeedDespite(back, RESTORE, { flow: restoreFromBackup.title, step: "source" });
  });
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

test("another machine, with a copy of a snapshot and the key, takes over, and the worker joins it", async () => {
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
    listed(b, async () => await b.succeed({ words })),
    served(b).then(() => report("one node: restore begins to API", secondsSince(began))),
  ]);
  report("one node: restore begins to its end", secondsSince(began));
  expect(await b.identity()).toEqual(known);
  await w.succeed(await b.invite("worker"));
  await goesOn(b, ["b", "w"], "fourth");
});

test("no journal, no log and no process list shows a key of the cluster, the bucket or its bundles, or a token", async () => {
  const { b, w } = machines;
  const keys = (await fileOf(b, "/root/keys.json")) ?? expect.fail("the operator's keys are gone");
  const ofBundles = [...keys.matchAll(/"([0-9A-Za-z+/_-]{30,}={0,2})"/g)].map(([, key = ""]) => key);
  expect(ofBundles.length).toBeGreaterThan(0);
  const secrets = await b.asAdministrator(async (client) => await client.list(Secret));
  const words = [...hidden, ...ofBundles, ...secrets.flatMap(hiddenWords)];
  expect(words.length).toBeGreaterThan(20);
  for (const machine of [b, w]) expect(await findWords(machine, words), machine.name).toEqual([]);
  for (const command of ["init", "token create", "join", "restore"])
    expect(
      processes.some((text) => new RegExp(`gardenadm/main\\.[jt]s ${command}`).test(text)),
      command,
    ).toBe(true);
  expect(processes.some((text) => /rclone /.test(text))).toBe(true);
  for (const text of processes) expect(words.filter((word) => text.includes(word))).toEqual([]);
});

test("an extension makes the place of backups, also when init was ended while it waited for that", async () => {
  const { b } = machines;
  const folder = join(await b.root(), CONFIGURATION_FOLDER);
  const file = join(folder, "controllerregistration-provider-local.yaml");
  const offers = "  resources:\n    - { kind: BackupBucket, type: s3 }\n    - { kind: BackupEntry, type: s3 }\n";
  await writeFile(file, (await readFile(file, "utf8")).replace("  resources:\n", offers));
  const place = await b.asAdministrator(
    async (client) => await client.read(Secret, { namespace: "kube-system", name: "etcd-backup" }),
  );
  const row = { flow: reconcileSelfHosted.title, step: "backupEntry" };
  for (const by of ["SIGKILL", "power cut"] as const) expect(await b.interrupt(INIT, row, by), by).toBe("interrupted");
  await served(b);
  await b.asAdministrator(async (client) => {
    await client.remove(refTo(Secret, { namespace: "kube-system", name: "etcd-backup" }));
    const vendor = await startBackupExtension(client, "s3", place?.data ?? expect.fail("there is no place"));
    try {
      await b.succeed(INIT);
    } finally {
      await vendor.stop();
    }
    expect(await client.list(ExtensionBackupEntry)).toHaveLength(1);
    expect(await client.list(ExtensionBackupBucket)).toHaveLength(1);
    await takeSnapshot(client, "fifth");
  });
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
