import { beforeEach, expect } from "vitest";
import { createExtensionMoves } from "../../src/activities/extensions/moves.ts";
import { StepError } from "../../src/activities/step-error.ts";
import { fenced } from "../../src/activities/leadership/fenced-client.ts";
import { protectSnapshots } from "../../src/activities/backup/protection.ts";
import { keepSnapshotOf } from "../../src/activities/backup/reading.ts";
import type { SnapshotRecords } from "../../src/activities/backup/record.ts";
import { ExtensionBackupEntry } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { Job, refTo, type KubeClient } from "../../src/kube/index.ts";
import { createJobRunner, memoryRecords } from "../support/backup-lab.ts";
import { test } from "../support/cluster-test.ts";
import { shootRun } from "../support/shoot-run.ts";
import { notedWaits } from "../support/noted-waits.ts";

let kube: KubeClient;
let runner: ReturnType<typeof createJobRunner>;
let records: SnapshotRecords;
let run: ShootRun;
let count = 0;

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  runner = createJobRunner(kube);
});
beforeEach(async () => {
  run = shootRun({ technicalID: `shoot--dev--kept-${(count += 1)}`, uid: `uid-${count}` });
  records = memoryRecords();
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: run.technicalID } });
  await seed().apply(entry());
});

const seed = () => fenced(runner.client, run);
const entryRef = () => refTo(ExtensionBackupEntry, { name: `${run.technicalID}--${run.uid}` });
const entry = () => {
  const { apiVersion, kind, name } = entryRef();
  const secretRef = { name: "b", namespace: "garden" };
  return {
    apiVersion,
    kind,
    metadata: { name },
    spec: { type: "local", region: "local", bucketName: "bucket-1", secretRef },
  };
};
const kept = async () => (await kube.read(entryRef()))?.metadata.annotations?.["perennial.dev/kept-snapshots"];

/** A Job that has taken a snapshot, at this revision; returns the name of its file. */
async function take(name: string, revision: number): Promise<string> {
  const { apiVersion, kind } = Job;
  const namespace = run.technicalID;
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "verify", image: "etcd" }] } };
  await kube.create({ apiVersion, kind, metadata: { name, namespace }, spec: { template } } as never);
  return runner.succeed(namespace, name, { hash: 1, revision, totalSize: 9 });
}

async function keep(name: string): Promise<void> {
  const job = await kube.read(Job, { namespace: run.technicalID, name });
  if (job === undefined) throw new Error(`there is no Job ${name}`);
  await keepSnapshotOf(job, { seedClient: seed(), owner: run, records });
}

test("a snapshot is kept before it is recorded, and so is the one before for as long as it is the one recorded", async () => {
  const first = await take("first", 1);
  await keep("first");
  expect(await kept()).toBe(first);

  const recording = records;
  const unheard = () => Promise.reject(new Error("the garden does not answer"));
  records = { ...recording, record: unheard };
  const late = [];
  for (const revision of [2, 3, 4, 5]) {
    late.unshift(await take(`late-${revision}`, revision));
    await expect(keep(`late-${revision}`)).rejects.toThrow("does not answer");
    expect((await kept())?.split(",")).toEqual(expect.arrayContaining([late[0], first]));
  }

  records = recording;
  await keep("late-5");
  const last = await take("last", 6);
  await keep("last");
  expect((await kept())?.split(",").slice(0, 2)).toEqual([last, late[0]]);
});

test("a BackupEntry keeps what it says of its snapshots when it is applied again", async () => {
  const name = await take("first", 1);
  await keep("first");
  await seed().apply(entry());
  expect(await kept()).toBe(name);
});

test("a record that cannot be opened holds up no other", async () => {
  records = { ...records, latest: () => Promise.reject(new StepError("cannot use ShootState a/b: no key opens it")) };
  await keep(await take("first", 1).then(() => "first"));
  expect(await kept()).toMatch(/^first-.*\.db$/);
});

test("an entry that is restored says what its provider has to keep before that is asked to act", async () => {
  const snapshot = { revision: 1, hash: 1, size: 1, takenAt: "2026-01-01T10:00:00Z", bucket: "bucket-0" };
  await records.record(run, { ...snapshot, name: "old.db" });
  let told: string | undefined;
  const watched: KubeClient = {
    ...seed(),
    async patch(ref, patch, o) {
      if (JSON.stringify(patch).includes('"restore"')) told = await kept();
      return await seed().patch(ref, patch, o);
    },
  };
  await createExtensionMoves({
    seedClient: watched,
    waits: notedWaits,
    wanted: async () => [entry()],
    kept: async () => undefined,
    machines: async () => undefined,
    protect: (one) => protectSnapshots({ seedClient: watched, records }, one),
  }).restore(run, "BackupEntry", "backupEntry");
  expect(told).toBe("old.db");
});

test("a Job whose record is none is read again", async () => {
  const file = await take("odd", 9);
  const job = refTo(Job, { namespace: run.technicalID, name: "odd" });
  for (const odd of ["{", '{"name":"../../garden.db","revision":"9"}']) {
    await kube.patch(job, { metadata: { annotations: { "perennial.dev/snapshot-record": odd } } });
    await keep("odd");
    expect(await records.latest(run)).toMatchObject({ name: file, revision: 9 });
    expect((await kube.read(job))?.metadata.annotations).toMatchObject({
      "perennial.dev/snapshot-record": expect.stringContaining(file) as string,
    });
  }
});
