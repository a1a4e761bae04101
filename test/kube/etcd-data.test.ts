import {
  cp,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  unlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { components } from "../../src/components/index.ts";
import { judgeData } from "../../src/etcd-data/judge.ts";
import { letStart } from "../../src/etcd-data/let-start.ts";
import { dataPlaceOf, markData, type DataPlace } from "../../src/etcd-data/place.ts";
import { replaceData } from "../../src/etcd-data/replace.ts";
import { restoreData } from "../../src/etcd-data/restore-data.ts";
import { createEtcd } from "../../src/etcd-data/serve.ts";
import { fetchSnapshot, findSnapshots } from "../../src/etcd-data/snapshots.ts";
import { openStore } from "../../src/etcd-data/store.ts";
import { judge } from "../../src/gardenadm/steps/fault.ts";
import { isSurvivalCutOff, restoreFromMember, type EtcdPrograms } from "../../src/etcd-data/survivor.ts";
import { readLog } from "../../src/etcd-data/write-ahead-log.ts";
import { createEtcdTool } from "../../src/node-agent/commands.ts";
import { findBinary } from "../support/binary.ts";
import { makeCertificates } from "../support/certificates.ts";
import { spawnChild, type Child } from "../support/child.ts";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-ports.ts";
import { claimDirectory, controlPlanePrefix } from "../support/leftovers.ts";
import { runPod } from "../support/pod-processes.ts";
import { startS3, type S3Server } from "../support/s3-server.ts";
import { backedUpOnNodes } from "../support/self-hosted-control-plane.ts";
import { seconds } from "../support/patience.ts";

const keys = { accessKeyID: "home", secretAccessKey: "secret-of-home" };
const context = backedUpOnNodes({ provider: "s3" });
const uid = context.shoot.metadata.uid ?? "";
const member = { name: "a", peerURL: "http://127.0.0.1:2380", token: "etcd-main" };
let directory: string;
let programs: EtcdPrograms;
let s3: S3Server;
let places = 0;

/** Data of an etcd that was killed, which most tests begin with. */
let killed: string;
let endpoint: string;
let snapshot: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), controlPlanePrefix));
  await claimDirectory(directory);
  const { ca, serverCert, serverKey } = await makeCertificates();
  for (const [name, text] of Object.entries({ "ca.crt": ca, "tls.crt": serverCert, "tls.key": serverKey }))
    await writeFile(join(directory, name), text, { mode: 0o600 });
  process.env["RCLONE_CA_CERT"] = join(directory, "ca.crt"); // as an operator does, whose store has an authority of its own
  s3 = await startS3(directory, "store", keys);
  await s3.bucket("bucket");
  programs = {
    etcd: createEtcd(await findBinary("etcd")),
    etcdctl: createEtcdTool(await findBinary("etcdctl")),
    etcdutl: createEtcdTool(await findBinary("etcdutl")),
  };
  killed = join(directory, "killed");
  const etcd = await startEtcd(killed);
  await put(etcd.endpoint, 40);
  endpoint = etcd.endpoint;
  snapshot = join(directory, "snapshot.db");
  await programs.etcdctl(["snapshot", "save", snapshot, `--endpoints=${endpoint}`]);
  await etcd.child.kill();
}, seconds(60));

afterAll(async () => {
  await s3.stop();
  delete process.env["RCLONE_CA_CERT"];
  await rm(directory, { recursive: true, force: true });
});

test("data of an etcd that was killed are healthy, and while it runs they are not judged", async () => {
  const place = await placed();
  expect(await judgeData(programs, place)).toEqual({ state: "healthy" });
  const etcd = await startEtcd(place.dataDir);
  await expect(judgeData(programs, place)).rejects.toThrow(/etcd runs with the data in .*: stop it first/);
  await expect(replaceData(place, async () => {})).rejects.toThrow("stop it first");
  await etcd.child.kill();
});

test("missing data are told from those that never were by a mark, which outlives the volume", async () => {
  const place = await placed();
  await rm(place.dataDir, { recursive: true });
  expect(await judgeData(programs, place)).toMatchObject({ state: "missing" });
  await rm(place.mark);
  expect(await judgeData(programs, place)).toMatchObject({ state: "missing" }); // the mark may be lost with them
  await letStart(place.dataDir);
  expect(await judgeData(programs, place)).toEqual({ state: "none" });
});

test("data whose disk is not mounted are not taken for lost", async () => {
  const place = await placed();
  const [mountPoint, disk] = [dirname(place.dataDir), await mkdtemp("/dev/shm/etcd-data-")];
  onTestFinished(async () => await rm(disk, { recursive: true }));
  await rm(place.mark);
  await rename(mountPoint, `${mountPoint}.none`);
  await symlink(disk, mountPoint); // as another device is
  await mkdir(place.dataDir);
  await markData(place);
  await rm(mountPoint);
  await mkdir(mountPoint);
  await expect(judgeData(programs, place)).rejects.toThrow(
    `cannot judge ${place.dataDir}: the disk that was mounted on ${mountPoint} is not; mount it`,
  );
});

test.each([
  ["a page in use that is damaged", damagePages, "its database cannot be read"],
  ["a database that was cut short", (dir: string) => truncate(databaseIn(dir), 30_000), "its database cannot be read"],
  ["an empty database", (dir: string) => truncate(databaseIn(dir), 0), "its database cannot be read"],
  ["a database that is gone", (dir: string) => unlink(databaseIn(dir)), "its database is gone"],
  ["a changed byte in the log", changeLog, "its write-ahead log is damaged"],
  [
    "a log that is gone",
    (dir: string) => rm(join(dir, "member/wal"), { recursive: true }),
    "its write-ahead log is gone",
  ],
])("%s is corruption", async (_what, damage, why) => {
  const place = await placed();
  await damage(place.dataDir);
  const verdict = await judgeData(programs, place);
  expect(verdict).toMatchObject({ state: "corrupt" });
  expect("why" in verdict && verdict.why).toContain(why);
  expect(JSON.stringify(verdict)).not.toContain("goroutine");
});

test("etcd itself does not start with the log that is called damaged, and starts with one that a power cut has torn", async () => {
  const damaged = await placed();
  await changeLog(damaged.dataDir);
  await expect(startEtcd(damaged.dataDir)).rejects.toThrow("etcd ended");
  const torn = await placed();
  await tearLog(torn.dataDir);
  expect(await judgeData(programs, torn)).toEqual({ state: "healthy" });
  await (await startEtcd(torn.dataDir)).child.kill();
});

test("an etcd that was cut off at its first start has no data, and is not taken for a healthy one", async () => {
  const place = await placed();
  await forgetEntries(place.dataDir);
  expect(await judgeData(programs, place)).toMatchObject({
    state: "missing",
    why: expect.stringContaining("where etcd was cut off as it began"),
  });
  await rm(place.mark);
  expect(await judgeData(programs, place)).toEqual({ state: "none" });
});

/** Leaves of a log what is in it before its first entry. */
async function forgetEntries(dir: string): Promise<void> {
  const folder = join(dir, "member/wal");
  const [name = ""] = (await readdir(folder)).filter((file) => file.endsWith(".wal"));
  const file = await readFile(join(folder, name));
  const ends: number[] = [];
  let offset = 0;
  readLog(file, 0, ({ type }) => {
    if (type === 2) ends.push(offset);
    const head = file.readBigUInt64LE(offset);
    const padding = head >> 63n === 1n ? Number((head >> 56n) & 7n) : 0;
    offset += 8 + Number(head & 0x00ff_ffff_ffff_ffffn) + padding;
  });
  await writeFile(join(folder, name), Buffer.concat([file.subarray(0, ends[0]), Buffer.alloc(4096)]));
}

test("a tool that the machine fails says nothing of the data", async () => {
  const place = await placed();
  const etcdutl = createEtcdTool(join(directory, "none"));
  await expect(judgeData({ etcdutl }, place)).rejects.toThrow("is not installed");
  const full = async () => await programs.etcdutl(["snapshot", "status", "/none: no space left on device"]);
  await expect(judgeData({ etcdutl: full }, place)).rejects.toThrow("cannot judge");
});

test("restored data begin a cluster whose revisions go on beyond all that clients have seen; the old are kept", async () => {
  const place = await placed();
  const { aside = "" } = await restoreData(programs, { snapshot, place, member });
  expect(await judgeData(programs, { ...place, dataDir: aside })).toEqual({ state: "healthy" });
  const etcd = await startEtcd(place.dataDir);
  expect(await read(etcd.endpoint)).toMatchObject({ count: 40, header: { revision: 1_000_000_041 } });
  await etcd.child.kill();
});

test("a snapshot with a changed byte, or cut short, is refused and changes nothing", async () => {
  const place = await placed();
  const bad = join(directory, "bad.db");
  for (const damage of [(file: string) => changeByte(file, 100_000), (file: string) => truncate(file, 100_000)]) {
    await cp(snapshot, bad);
    await damage(bad);
    await expect(restoreData(programs, { snapshot: bad, place, member })).rejects.toThrow(`cannot restore ${bad}: `);
    expect(await readdir(join(place.dataDir, ".."))).toEqual(["new.etcd"]);
    expect(await judgeData(programs, place)).toEqual({ state: "healthy" });
  }
});

test("a replacement that was killed at any of its steps never looks like an etcd that had nothing, and ends well again", async () => {
  const place = await placed();
  const draft = `${place.dataDir}.new`;
  await cp(killed, draft, { recursive: true }); // killed while it was made
  await rm(place.mark);
  await markData(place);
  await rm(place.dataDir, { recursive: true }); // killed between the two names
  expect(await judgeData(programs, place)).toMatchObject({ state: "missing" });
  await restoreData(programs, { snapshot, place, member });
  expect(await judgeData(programs, place)).toEqual({ state: "healthy" });
  expect(await readdir(join(place.dataDir, ".."))).toEqual(["new.etcd"]);
});

test("a restore from a member goes on that was killed between the two names, when no data had that of the old", async () => {
  const place = await placed();
  expect(await isSurvivalCutOff(place)).toBe(false);
  await restoreFromMember(programs, { place, member });
  const whole = `${place.dataDir}.of-survivor`;
  await rename(place.dataDir, whole);
  expect(await isSurvivalCutOff(place)).toBe(true);
  await restoreFromMember(programs, { place, member });
  expect(await judgeData(programs, place)).toEqual({ state: "healthy" });
  const etcd = await startEtcd(place.dataDir);
  expect(await read(etcd.endpoint)).toMatchObject({ count: 40 });
  await etcd.child.kill();
  // What was whole beside old data that are there is made anew: they may have changed since.
  await mkdir(whole);
  expect(await isSurvivalCutOff(place)).toBe(false);
  await restoreFromMember(programs, { place, member });
  expect((await readdir(join(place.dataDir, ".."))).filter((name) => !/^new\.etcd(\.2.*)?$/.test(name))).toEqual([]);
});

test("a survivor of three is a cluster of its own, with all that it had in its log", async () => {
  const place = await placed();
  const alone = join(place.dataDir, "..", "three");
  const three = await startThree(alone);
  await put(three.endpoint, 300);
  await three.kill();
  await rm(place.dataDir, { recursive: true });
  await cp(join(alone, "m0"), place.dataDir, { recursive: true });
  await restoreFromMember(programs, { place, member, revisionBump: 1_000 });
  expect(
    (await readdir(join(place.dataDir, ".."))).filter((name) => /\.(of-survivor|survivor|new)$/.test(name)),
  ).toEqual([]);
  const etcd = await startEtcd(place.dataDir);
  const { count, header } = await read(etcd.endpoint);
  expect(count).toBe(300);
  expect(header.revision).toBeGreaterThan(1_300);
  const members = await programs.etcdctl(["member", "list", `--endpoints=${etcd.endpoint}`]);
  expect(members.trim().split("\n")).toHaveLength(1);
  await etcd.child.kill();
});

test("a snapshot of a control plane on nodes lies in the store behind its bundle, and is found and fetched there", async () => {
  const etcd = await startEtcd(join(directory, "backed-up"));
  await put(etcd.endpoint, 3);
  for (const minutes of ["29000010", "29000020"])
    expect(await backUp(etcd.endpoint, `etcd-backup-${minutes}`)).toEqual([
      ...[
        "save",
        "verify",
        "bundle",
        "upload-bundle",
        "compare-bundle",
        "upload",
        "compare",
        "expire",
        "expire-bundles",
      ],
    ]);
  await etcd.child.kill();
  const folder = join(await s3.bucket("bucket"), `kube-system--${uid}`);
  await writeFile(join(folder, "etcd-backup-29000030-abcde.db"), "without a bundle");
  const store = openStore({ provider: "s3", secret: secretOf() }, await findBinary("rclone"));
  const found = await findSnapshots(store);
  expect(found.map(({ name }) => name)).toEqual(["etcd-backup-29000020-abcde.db", "etcd-backup-29000010-abcde.db"]);
  expect(found[0]).toMatchObject({ uid, at: 29_000_020 * 60_000 });
  expect(await findSnapshots(store, { uid: "another" })).toEqual([]);
  const [newest = expect.fail()] = found;
  const { file, bundle } = await fetchSnapshot(store, newest, { folder: directory });
  expect(bundle.toString()).toBe("sealed");
  const place = await placed();
  await restoreData(programs, { snapshot: file, place, member });
  await expect(fetchSnapshot(store, { uid, name: "none.db" }, { folder: directory })).rejects.toThrow(
    "cannot fetch none.db.bundle in store:bucket",
  );
});

test(
  "a store that is not trusted, or that refuses, is said to be that, and soon",
  async () => {
    const rclone = await findBinary("rclone");
    const refused = openStore({ provider: "s3", secret: { ...secretOf(), secretAccessKey: "guessed" } }, rclone);
    await expect(findSnapshots(refused)).rejects.toThrow(/cannot list in store:bucket: .*(403|Forbidden|Signature)/s);
    const { RCLONE_CA_CERT: trusted } = process.env;
    try {
      delete process.env["RCLONE_CA_CERT"];
      const untrusted = openStore({ provider: "s3", secret: secretOf() }, rclone);
      await expect(findSnapshots(untrusted)).rejects.toThrow(/cannot list in store:bucket: .*certificate/s);
    } finally {
      process.env["RCLONE_CA_CERT"] = trusted;
    }
  },
  seconds(30),
);

test(
  "a store that is away may be there a moment later, and one that refuses is for the operator",
  async () => {
    const rclone = await findBinary("rclone");
    const closed = openStore({ provider: "s3", secret: { ...secretOf(), endpoint: "https://127.0.0.1:1" } }, rclone);
    const away: unknown = await findSnapshots(closed).catch((error: unknown) => error);
    expect(away).toMatchObject({ message: expect.stringMatching(/cannot list in store:bucket: .*refused/s) as string });
    expect(judge(away)).toMatchObject({ retryable: true, within: 5_000 });
    const refusing = openStore({ provider: "s3", secret: { ...secretOf(), secretAccessKey: "guessed" } }, rclone);
    expect(judge(await findSnapshots(refusing).catch((error: unknown) => error))).toMatchObject({ retryable: false });
  },
  seconds(30),
);

test("a store whose Secret lacks a key, or whose provider is none, says so", () => {
  expect(() => openStore({ provider: "local", secret: {} })).toThrow("provider local is no object store; write aws");
  expect(() => openStore({ provider: "s3", secret: { ...secretOf(), endpoint: "" } })).toThrow(
    "has no endpoint: add it",
  );
});

/** A copy of the killed etcd's data in a place of its own, with the mark of a member. */
async function placed(): Promise<DataPlace> {
  const place = dataPlaceOf("main", join(directory, `place-${(places += 1)}`));
  await cp(killed, place.dataDir, { recursive: true });
  await markData(place);
  return place;
}

const secretOf = () => ({ ...keys, bucketName: "bucket", endpoint: s3.endpoint, s3ForcePathStyle: "true" });

/** Runs the pod of the schedule, and answers which of its containers have done well. */
async function backUp(at: string, name: string): Promise<readonly string[]> {
  const [cronJob] = components["etcd-backup"].objects(context);
  const { spec } = (cronJob as unknown as { spec: { jobTemplate: { spec: object } } }).spec.jobTemplate;
  const folder = join(directory, name);
  await mkdir(join(folder, "backup"), { recursive: true });
  await mkdir(join(folder, "bundle"));
  await writeFile(join(folder, "content"), "sealed");
  await symlink(join(folder, "content"), join(folder, "bundle/bundle")); // as the kubelet does it
  const local = (word: string) =>
    word
      .replace(/^\/(backup|bundle)\b/, `${folder}/$1`)
      .replace("https://localhost:2379", at)
      .replace(/^--(cacert|cert|key)=.*/, "--write-out=simple");
  const job = { apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec };
  const ended = await runPod(job, {
    secrets: { "etcd-backup": secretOf() },
    local,
    env: { RCLONE_CA_CERT: join(directory, "ca.crt") },
  });
  for (const { name: step, code, stderr } of ended) expect(code, `${step}: ${stderr}`).toBe(0);
  return ended.map(({ name: step }) => step);
}

async function startEtcd(dataDir: string): Promise<{ child: Child; endpoint: string }> {
  const [client, peer] = await freePorts(2);
  const url = `http://127.0.0.1:${client}`;
  const flags = [`--data-dir=${dataDir}`, `--listen-client-urls=${url}`, `--advertise-client-urls=${url}`];
  const child = await spawnChild(directory, "etcd", [...flags, `--listen-peer-urls=http://127.0.0.1:${peer}`]);
  await untilHealthy(child, url);
  return { child, endpoint: url };
}

async function untilHealthy(child: Child, url: string): Promise<void> {
  for (let waited = 0; ; waited += 1) {
    if (!child.alive()) throw new Error(`etcd ended:\n${child.output().slice(-500)}`);
    const answer = await programs
      .etcdctl(["get", "health", "--command-timeout=1s", `--endpoints=${url}`])
      .catch(String);
    if (!answer.includes("Error")) return;
    if (waited > 30) throw new Error(answer);
  }
}

async function startThree(folder: string) {
  await mkdir(folder, { recursive: true });
  const ports = await freePorts(6);
  const peers = [0, 1, 2].map((index) => `http://127.0.0.1:${ports[index]}`);
  const clients = [3, 4, 5].map((index) => `http://127.0.0.1:${ports[index]}`);
  const cluster = peers.map((peer, index) => `m${index}=${peer}`).join(",");
  const children = await Promise.all(
    [0, 1, 2].map((index) =>
      spawnChild(directory, "etcd", [
        ...[`--data-dir=${folder}/m${index}`, `--name=m${index}`, `--initial-cluster=${cluster}`],
        ...[`--listen-peer-urls=${peers[index]}`, `--initial-advertise-peer-urls=${peers[index]}`],
        ...[`--listen-client-urls=${clients[index]}`, `--advertise-client-urls=${clients[index]}`],
      ]),
    ),
  );
  await eventually(async () => void (await programs.etcdctl(["get", "health", `--endpoints=${clients[0]}`])), 30_000);
  const kill = async () => void (await Promise.all(children.map((child) => child.kill())));
  return { endpoint: clients[0] ?? "", kill };
}

async function put(at: string, count: number): Promise<void> {
  const all = Array.from({ length: count }, (_, index) => index);
  for (const index of all) await programs.etcdctl(["put", `key-${index}`, "v".repeat(2_000), `--endpoints=${at}`]);
}

async function read(at: string): Promise<{ count: number; header: { revision: number } }> {
  const text = await programs.etcdctl(["get", "key", "--prefix", "--keys-only", "-w=json", `--endpoints=${at}`]);
  return JSON.parse(text) as { count: number; header: { revision: number } };
}

function databaseIn(dir: string): string {
  return join(dir, "member/snap/db");
}

async function logIn(dir: string): Promise<string> {
  const names = await readdir(join(dir, "member/wal"));
  return join(dir, "member/wal", names.find((name) => name.endsWith(".wal")) ?? expect.fail("there is no log"));
}

async function damagePages(dir: string): Promise<void> {
  const database = await open(databaseIn(dir), "r+");
  for (const page of [2, 3, 4, 5, 6, 7, 8]) await database.write(Buffer.alloc(4_096, 0xa5), 0, 4_096, page * 4_096);
  await database.close();
}

async function changeLog(dir: string): Promise<void> {
  await changeByte(await logIn(dir), 9_000);
}

/** What of the last record was not on the disk yet is zeros. */
async function tearLog(dir: string): Promise<void> {
  const file = await logIn(dir);
  const bytes = await readFile(file);
  const end = bytes.findLastIndex((byte) => byte !== 0);
  const from = end - (end % 512) - 512;
  await writeFile(file, Buffer.concat([bytes.subarray(0, from), Buffer.alloc(bytes.length - from)]));
}

async function changeByte(path: string, at: number): Promise<void> {
  const file = await open(path, "r+");
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at);
  await file.write(Buffer.from([(buffer[0] ?? 0) ^ 0xff]), 0, 1, at);
  await file.close();
}
