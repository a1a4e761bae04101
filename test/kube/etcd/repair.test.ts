import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { beforeEach, expect } from "vitest";
import { readEtcdData } from "../../../src/activities/etcd/directories.ts";
import { createEtcdRepair } from "../../../src/activities/etcd/repair.ts";
import { fenced } from "../../../src/activities/leadership/fenced-client.ts";
import { JOB_UID_LABEL } from "../../../src/activities/waits/readiness.ts";
import { EPOCH_ANNOTATION } from "../../../src/api/annotations.ts";
import type { ShootRun } from "../../../src/api/shoot/run.ts";
import { components, type EtcdRole } from "../../../src/components/index.ts";
import { Job, Namespace, PersistentVolumeClaim, Pod, refTo, type KubeClient } from "../../../src/kube/index.ts";
import { findBinary } from "../../support/binary.ts";
import { createJobRunner, memoryRecords } from "../../support/backup-lab.ts";
import { test } from "../../support/cluster-test.ts";
import { exampleContext } from "../../support/control-plane-context.ts";
import { applyFencing } from "../../support/fencing.ts";
import { applyGarden, createShoot } from "../../support/garden-objects.ts";
import { notedWaits } from "../../support/noted-waits.ts";

let kube: KubeClient;
let runner: ReturnType<typeof createJobRunner>;
let records: ReturnType<typeof memoryRecords>;
let run: ShootRun;
let stopped: string[];
let told: string[];
/** The log of the last end of each etcd that does not start. */
let logs: Partial<Record<EtcdRole, string>>;
let count = 0;

const damage = [
  `{"level":"info","msg":"opening the database"}`,
  "panic: assertion failed: Page expected to be: 4, but self identifies as 10594919924235157649",
].join("\n");
const snapshot = { revision: 405, hash: 4219493817, size: 614400, takenAt: "2026-01-01T10:00:00Z", bucket: "bucket-1" };
const read = { hash: 4219493817, revision: 405, totalKey: 267, totalSize: 614400, version: "3.6.0" };

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  runner = createJobRunner(kube);
  await applyGarden(kube);
  await applyFencing(kube, "seed");
});
beforeEach(async () => {
  const created = await createShoot(kube, `damaged-${(count += 1)}`);
  run = { ...created, operation: "Reconcile", epoch: 2, hasBackup: true, etcdDamaged: true };
  [records, stopped, told, logs] = [memoryRecords(), [], [], {}];
  await records.record(run, { ...snapshot, name: "etcd-backup-29000000-abcde.db" });
  for (const role of ["main", "events"] as const) await makeEtcd(role);
});

const repair = (of: ShootRun = run, client: KubeClient = kube, doubt = 100) => {
  const get = async (path: string) => {
    const role = /etcd-(main|events)-0\/log\?container=etcd&previous=true/.exec(path)?.[1] as EtcdRole | undefined;
    return role === undefined ? await runner.client.get(path) : logs[role];
  };
  return createEtcdRepair({
    gardenClient: kube,
    seedClient: fenced({ ...client, get }, of),
    records,
    waits: notedWaits,
    stop: async (_run, component) => {
      stopped.push(component);
      return [];
    },
    tell: async (_run, what) => void told.push(what),
    doubt,
  });
};
const claim = (role: EtcdRole) =>
  refTo(PersistentVolumeClaim, { namespace: run.technicalID, name: `${role}-etcd-etcd-${role}-0` });
const job = () => refTo(Job, { namespace: run.technicalID, name: "repair-etcd-main" });
const annotations = async (role: EtcdRole) => (await kube.read(claim(role)))?.metadata.annotations ?? {};
const command = async () => {
  const context = { ...exampleContext(), ...(await readEtcdData(kube, run)) };
  return JSON.stringify(components.etcd.objects(context));
};

/** Every activity of the repair in the order of its rows, each twice, as when its worker was killed before it could answer. */
async function goThrough(of: ShootRun = run) {
  const steps = repair(of);
  await twice(() => steps.confirmEtcdDamage(of));
  await twice(() => steps.stopDamagedApiServer(of, "damagedApiServer"));
  await twice(() => steps.stopDamagedEtcd(of, "damagedEtcd"));
  const targets = await steps.restoreEtcdData(of, "etcdData");
  expect(await steps.restoreEtcdData(of, "etcdData")).toEqual(targets);
  if (targets.length > 0) await runner.succeed(of.technicalID, "repair-etcd-main", read);
  await twice(() => steps.switchEtcdData(of));
  return targets;
}

async function twice(act: () => Promise<unknown>): Promise<void> {
  await act();
  await act();
}

test("data that are damaged are replaced once, however often each step is done", async () => {
  await crashes("main", damage);
  expect(await goThrough()).toMatchObject([{ kind: "Job", name: "repair-etcd-main", until: "completed" }]);
  expect(stopped).toEqual(["kube-apiserver", "kube-apiserver", "etcd", "etcd"]);
  const { "perennial.dev/etcd-directories": directories, ...others } = await annotations("main");
  expect(directories).toMatch(/^restored-[\w-]+-repair-etcd-main-\w+,new\.etcd$/);
  expect(others["perennial.dev/etcd-damaged"]).toBeUndefined();
  expect(others["perennial.dev/etcd-replaced"]).toMatch(
    /^etcd-main was restored from etcd-backup-29000000-abcde.db, taken at 2026-01-01T10:00:00Z \(\d+ minutes before\) at /,
  );
  expect(told).toEqual([expect.stringContaining("because its data were damaged: panic: assertion failed")]);
  expect(await command()).toContain(`--data-dir=/var/etcd/data/${directories?.split(",")[0]}"`);
  expect(await kube.read(job())).toBeUndefined();
});

test("an etcd that runs, or ended for another reason, is left alone", async () => {
  logs.main = damage;
  expect(await goThrough()).toEqual([]);
  await crashes("main", "listen tcp 127.0.0.1:2380: bind: address already in use");
  expect(await goThrough()).toEqual([]);
  await crashes("main", "write /var/etcd/data/new.etcd/member/snap/db: no space left on device");
  expect(await goThrough()).toEqual([]);
  expect([stopped, told]).toEqual([[], []]);
});

test("an etcd whose log is not there at the first look is looked at again", async () => {
  await crashes("main", damage);
  let looks = 0;
  logs = {
    get main() {
      return (looks += 1) === 1 ? "unable to retrieve container logs for containerd://0123" : damage;
    },
  };
  await repair(run, kube, 60_000).confirmEtcdDamage(run);
  expect(await annotations("main")).toHaveProperty(["perennial.dev/etcd-damaged"]);
});

test("an etcd that has served, ended once and starts again is left alone; one that has failed to start is not", async () => {
  await crashes("main", damage);
  await startsAgain("main");
  expect(await goThrough()).toEqual([]);
  logs.main = `{"level":"info","msg":"starting an etcd server"}\n${damage}`;
  expect(await goThrough()).toHaveLength(1);
});

test("an etcd that has started again by itself before it is stopped is left alone, unless an operator has marked it", async () => {
  for (const role of ["main", "events"] as const) await crashes(role, damage);
  await repair().confirmEtcdDamage(run);
  for (const role of ["main", "events"] as const) {
    expect((await annotations(role))["perennial.dev/etcd-damaged"]).toMatch(/^panic: .+, as its log reports$/);
    await becomesReady(role);
  }
  expect(await goThrough()).toEqual([]);
  expect([stopped, told]).toEqual([[], []]);
  for (const role of ["main", "events"] as const)
    expect(await annotations(role)).not.toHaveProperty(["perennial.dev/etcd-damaged"]);
  await kube.patch(claim("main"), { metadata: { annotations: { "perennial.dev/etcd-damaged": "a disk to replace" } } });
  expect(await goThrough()).toHaveLength(1);
  expect(stopped).toContain("etcd");
});

test("events begin anew in a folder of their own, and nothing stops for that", async () => {
  await crashes("events", damage);
  expect(await goThrough()).toEqual([]);
  expect([stopped, told]).toEqual([[], [expect.stringMatching(/^etcd-events was started empty, because/)]]);
  expect((await annotations("events"))["perennial.dev/etcd-directories"]).toMatch(/^empty-2-\d+,new\.etcd$/);
  expect(await command()).toMatch(/--data-dir=\/var\/etcd\/data\/empty-2-\d+"/);
});

test("nothing is stopped or changed where there is nothing to restore", async () => {
  await crashes("main", damage);
  records = memoryRecords();
  await expect(goThrough()).rejects.toThrow(/cannot restore etcd-main of .* no snapshot of it was recorded/);
  expect(await annotations("main")).not.toHaveProperty(["perennial.dev/etcd-damaged"]);
  expect(await goThrough({ ...run, hasBackup: false })).toEqual([]);
  expect(stopped).toEqual([]);
});

test("a Job that failed is followed by one that takes away what it and those before it have left, and nothing else", async () => {
  const earlier = { "perennial.dev/etcd-directories": "restored-b-c,new.etcd" };
  await kube.patch(claim("main"), { metadata: { annotations: earlier } });
  await crashes("main", damage);
  await repair().confirmEtcdDamage(run);
  await repair().restoreEtcdData(run, "etcdData");
  expect(await stepsOfJob()).toEqual(["restore"]);
  const failed: string[] = [];
  for (const again of [1, 2]) {
    failed.push(`restored-${(await kube.read(job()))?.metadata.uid}-repair-etcd-main-x`);
    await runner.fail(run.technicalID, "repair-etcd-main");
    await expect(repair().switchEtcdData(run)).rejects.toThrow("have not been restored");
    expect(await stepsOfJob(), String(again)).toEqual(["clear", "restore"]);
  }
  expect(await clearedBy(...failed, "restored-b-c", "new.etcd", "empty-1")).toEqual(failed);
  await runner.succeed(run.technicalID, "repair-etcd-main", read);
  await repair().switchEtcdData(run);
});

test("clients that have seen what is lost start over: new revisions begin where none has been", async () => {
  await crashes("main", damage);
  await repair().confirmEtcdDamage(run);
  await repair().restoreEtcdData(run, "etcdData");
  const text = JSON.stringify(await kube.read(job()));
  for (const flag of ["--bump-revision=1000000000", "--mark-compacted"]) expect(text).toContain(flag);
});

test("a snapshot of which another file was read than was recorded is not started from", async () => {
  await crashes("main", damage);
  await repair().confirmEtcdDamage(run);
  await repair().restoreEtcdData(run, "etcdData");
  await runner.succeed(run.technicalID, "repair-etcd-main", { ...read, hash: 1 });
  await expect(repair().switchEtcdData(run)).rejects.toThrow("but the one restored has 405 and 1");
  expect(await annotations("main")).not.toHaveProperty(["perennial.dev/etcd-directories"]);
});

test("a Job of an earlier repair is gone before data are marked: it has restored them already", async () => {
  const mark = async (why: string | null) =>
    await kube.patch(claim("main"), { metadata: { annotations: { "perennial.dev/etcd-damaged": why } } });
  await mark("by hand");
  await repair().restoreEtcdData(run, "etcdData");
  await mark(null);
  await crashes("main", damage);
  await repair().confirmEtcdDamage(run);
  const left = await kube.read(job());
  expect(left === undefined || left.metadata.deletionTimestamp !== undefined).toBe(true);
});

test("an etcd that was ended well is left alone, whatever its log says", async () => {
  await crashes("main", damage);
  await setStatus("main", { ready: false, restartCount: 1, lastState: { terminated: { exitCode: 0 } } });
  expect(await goThrough()).toEqual([]);
});

test("what a claim names and is no folder of its volume is passed over", async () => {
  const named = { "perennial.dev/etcd-directories": "../../etc,a b,--x,,restored-a" };
  await kube.patch(claim("main"), { metadata: { annotations: named } });
  const { etcdDirectories } = await readEtcdData(kube, run);
  expect(etcdDirectories).toEqual({ main: "--x" });
});

test("data of a newer snapshot are restored when one was recorded meanwhile, and no others than were recorded", async () => {
  await crashes("main", damage);
  await repair().confirmEtcdDamage(run);
  await repair().restoreEtcdData(run, "etcdData");
  await runner.succeed(run.technicalID, "repair-etcd-main", read);
  await records.record(run, { ...snapshot, revision: 500, name: "etcd-backup-29000010-abcde.db" });
  await expect(repair().switchEtcdData(run)).rejects.toThrow("re-created");
  await expect(repair().switchEtcdData(run)).rejects.toThrow("have not been restored");
  await runner.succeed(run.technicalID, "repair-etcd-main", read);
  await expect(repair().switchEtcdData(run)).rejects.toThrow("recorded with revision 500");
  expect(await annotations("main")).not.toHaveProperty(["perennial.dev/etcd-directories"]);
});

test("what a worker that was paused in the middle writes late changes nothing", async () => {
  await crashes("main", damage);
  const [marking, marks] = paused();
  const late = repair(run, marking).confirmEtcdDamage(run).catch(String);
  await marks.reached;
  await repair().confirmEtcdDamage(run);
  await repair().restoreEtcdData(run, "etcdData");
  await runner.succeed(run.technicalID, "repair-etcd-main", read);
  const [switching, switches] = paused();
  const later = repair(run, switching).switchEtcdData(run).catch(String);
  await switches.reached;
  await repair().switchEtcdData(run);
  await setStatus("main", { ready: true, restartCount: 0, state: { running: {} } });
  // An operator, or a second repair, has put others in their place since.
  const replaced = { "perennial.dev/etcd-directories": "third,second,new.etcd" };
  await kube.patch(claim("main"), { metadata: { annotations: replaced } });
  marks.goOn();
  switches.goOn();
  expect([await late, await later]).toEqual([
    expect.stringMatching(/object has been modified/),
    expect.stringMatching(/object has been modified/),
  ]);
  expect(await annotations("main")).not.toHaveProperty(["perennial.dev/etcd-damaged"]);
  expect(await annotations("main")).toMatchObject(replaced);
});

test("a Job that a paused worker makes late spares the data that etcd runs with since", async () => {
  await crashes("main", damage);
  await repair().confirmEtcdDamage(run);
  await repair().restoreEtcdData(run, "etcdData");
  await runner.fail(run.technicalID, "repair-etcd-main", { name: "restore", exitCode: 1 });
  const [halfDone] = await foldersOfPods();
  const [making, makes] = paused("Job");
  const late = repair(run, making).restoreEtcdData(run, "etcdData");
  await makes.reached;
  await repair().restoreEtcdData(run, "etcdData");
  await runner.succeed(run.technicalID, "repair-etcd-main", read);
  await repair().switchEtcdData(run);
  const [current = ""] = (await annotations("main"))["perennial.dev/etcd-directories"]?.split(",") ?? [];
  makes.goOn();
  await late;
  expect(await clearedBy(current, halfDone ?? "", "new.etcd")).toEqual([halfDone]);
});

/** Of folders of the volume, those that the Job's first step removes: its command is run on such a volume. */
async function clearedBy(...folders: readonly string[]): Promise<string[]> {
  const volume = await mkdtemp(join(tmpdir(), "etcd-volume-"));
  try {
    for (const folder of folders) {
      await mkdir(join(volume, folder, "member"), { recursive: true });
      await writeFile(join(volume, folder, "member/db"), "data");
    }
    const { spec } = (await kube.read(job())) as unknown as {
      spec: { template: { spec: { initContainers?: { name: string; command: string[] }[] } } };
    };
    const [, ...words] = spec.template.spec.initContainers?.find(({ name }) => name === "clear")?.command ?? [];
    if (words.length > 0)
      await execa(
        await findBinary("rclone"),
        words.map((word) => (word === "/var/etcd/data" ? volume : word)),
      );
    const left = await readdir(volume);
    return folders.filter((folder) => !left.includes(folder));
  } finally {
    await rm(volume, { recursive: true, force: true });
  }
}

/** The folders into which the pods of the repair have restored. */
async function foldersOfPods(): Promise<string[]> {
  const pods = await kube.list(Pod, { namespace: run.technicalID, labelSelector: "app=etcd-backup" });
  return pods.map(({ metadata }) => `restored-${metadata.labels?.[JOB_UID_LABEL]}-${metadata.name}`);
}

/** A client whose writes of claims, or Jobs that it makes, wait, and say when the first is there. */
function paused(
  kind: "PersistentVolumeClaim" | "Job" = "PersistentVolumeClaim",
): [KubeClient, { readonly reached: Promise<void>; readonly goOn: () => void }] {
  const [arrival, start] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const pauseAt = async (at: string) => {
    if (at !== kind) return;
    arrival.resolve();
    await start.promise;
  };
  const patch = async (...[ref, ...rest]: Parameters<KubeClient["patch"]>) => {
    if (ref.kind !== "Job") await pauseAt(ref.kind);
    return await kube.patch(ref, ...rest);
  };
  const create = async (...[object, ...rest]: Parameters<KubeClient["create"]>) => {
    await pauseAt(object.kind);
    return await kube.create(object, ...rest);
  };
  const client = { ...kube, patch: patch as KubeClient["patch"], create: create as KubeClient["create"] };
  return [client, { reached: arrival.promise, goOn: () => start.resolve() }];
}

test("a seed that leads no more replaces nothing", async () => {
  await crashes("main", damage);
  await crashes("events", damage);
  await repair().confirmEtcdDamage(run);
  await repair().restoreEtcdData(run, "etcdData");
  await runner.succeed(run.technicalID, "repair-etcd-main", read);
  const metadata = { annotations: { [EPOCH_ANNOTATION]: "3" } };
  await kube.patch(refTo(Namespace, { name: run.technicalID }), { metadata });
  await expect.poll(() => repair().switchEtcdData(run).catch(String)).toMatch(/epoch 3 has begun here/);
  await expect(repair().restoreEtcdData(run, "etcdData")).rejects.toThrow("epoch 3 has begun here");
  for (const role of ["main", "events"] as const)
    expect(await annotations(role)).not.toHaveProperty(["perennial.dev/etcd-directories"]);
});

async function stepsOfJob(): Promise<string[]> {
  const { spec } = (await kube.read(job())) as unknown as {
    spec: { template: { spec: { initContainers?: { name: string }[]; containers: { name: string }[] } } };
  };
  const { initContainers = [], containers } = spec.template.spec;
  return [...initContainers, ...containers]
    .map(({ name }) => name)
    .filter((name) => name === "clear" || name === "restore");
}

async function makeEtcd(role: EtcdRole): Promise<void> {
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const { apiVersion, kind, name, namespace } = claim(role);
  await kube.apply({ apiVersion, kind, metadata: { name, namespace }, spec } as never);
  const metadata = { name: `etcd-${role}-0`, namespace, labels: { app: "etcd-statefulset", role } };
  await kube.apply({
    apiVersion: "v1",
    kind: "Pod",
    metadata,
    spec: { containers: [{ name: "etcd", image: "i" }] },
  } as never);
  await setStatus(role, { ready: true, restartCount: 0, state: { running: {} } });
}

async function crashes(role: EtcdRole, log: string): Promise<void> {
  logs[role] = log;
  const lastState = { terminated: { exitCode: 2 } };
  await setStatus(role, {
    ready: false,
    restartCount: 1,
    state: { waiting: { reason: "CrashLoopBackOff" } },
    lastState,
  });
}

const startsAgain = (role: EtcdRole) =>
  setStatus(role, {
    ...{ ready: false, restartCount: 1, state: { running: {} } },
    lastState: { terminated: { exitCode: 137 } },
  });

const becomesReady = (role: EtcdRole) =>
  setStatus(role, { ready: true, restartCount: 1, state: { running: {} } }, [{ type: "Ready", status: "True" }]);

async function setStatus(role: EtcdRole, status: object, conditions: readonly object[] = []): Promise<void> {
  const containerStatuses = [{ name: "etcd", image: "i", imageID: "i", ...status }];
  const pod = refTo(Pod, { namespace: run.technicalID, name: `etcd-${role}-0` });
  await kube.patch(pod, { status: { containerStatuses, conditions } }, { subresource: "status" });
}
