import { mkdir, mkdtemp, readFile, readdir, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { KubeObject, Seed } from "../../src/api/index.ts";
import { findObjectStore } from "../../src/api/object-stores.ts";
import { backupEntryName } from "../../src/api/extensions/backup-entry.ts";
import { checkJob, components, copyJob, listJob, restoreJob, snapshotJob } from "../../src/components/index.ts";
import { makeCertificates } from "../support/certificates.ts";
import { spawnChild, type Child } from "../support/child.ts";
import { exampleContext } from "../support/control-plane-context.ts";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-ports.ts";
import { claimDirectory, controlPlanePrefix } from "../support/leftovers.ts";
import { runPod, runProgram, type Ended } from "../support/pod-processes.ts";
import { startS3, type S3Server } from "../support/s3-server.ts";
import { seconds } from "../support/patience.ts";

const day = 24 * 3_600_000;
const example = exampleContext();
const entry = backupEntryName(example.namespace, example.shoot.metadata.uid ?? "");
/** Contexts of Seeds whose buckets are with different providers, with different keys. */
const [home, away] = [seedOf("bucket-1", "aws"), seedOf("bucket-2", "s3")];
const keys = [
  { accessKeyID: "home", secretAccessKey: "secret-of-home" },
  { accessKeyID: "away", secretAccessKey: "secret-of-away" },
] as const;

let directory: string;
let etcd: { readonly child: Child; readonly endpoint: string };
let servers: readonly [S3Server, S3Server];
let folders: readonly [string, string];
let pods = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), controlPlanePrefix));
  await claimDirectory(directory);
  const { ca, serverCert, serverKey, adminCert, adminKey } = await makeCertificates();
  await put("tls.crt", serverCert);
  await put("tls.key", serverKey);
  await put("srv/kubernetes/ca-etcd/ca.crt", ca);
  await put("srv/kubernetes/kube-apiserver-etcd-client/tls.crt", adminCert);
  await put("srv/kubernetes/kube-apiserver-etcd-client/tls.key", adminKey);
  etcd = await startEtcd("data", "https", [
    `--cert-file=${directory}/tls.crt`,
    `--key-file=${directory}/tls.key`,
    `--trusted-ca-file=${directory}/srv/kubernetes/ca-etcd/ca.crt`,
    "--client-cert-auth=true",
  ]);
  servers = [await startS3(directory, "home", keys[0]), await startS3(directory, "away", keys[1])];
  folders = [join(await servers[0].bucket("bucket-1"), entry), join(await servers[1].bucket("bucket-2"), entry)];
  await etcdctl(etcd.endpoint, "put", "/registry/configmaps/default/kept", "by all means");
}, seconds(60));

afterAll(async () => {
  await Promise.all([etcd.child.kill(), ...servers.map((server) => server.stop())]);
  await rm(directory, { recursive: true, force: true });
});

beforeEach(async () => {
  for (const folder of folders) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
  }
});

describe("a snapshot", () => {
  test("is read back from the bucket before it counts", async () => {
    const ended = await run(snapshotJob(home, "final-snapshot-2"));
    expect(codesOf(ended)).toEqual({ save: 0, upload: 0, compare: 0, verify: 0 });
    expect(await readdir(folders[0])).toEqual(["final-snapshot-2-abcde.db"]);
    expect(JSON.parse(ended.at(-1)?.stdout ?? "")).toMatchObject({ revision: 2, totalKey: 1 });
  });

  test("by the schedule takes old ones away, but no last ones, none that is recorded, and no other Shoot's", async () => {
    const old = Date.now() - 4 * day;
    const other = `${folders[0]}-other/etcd-backup-1.db`;
    await age(join(folders[0], "etcd-backup-1.db"), old);
    await age(join(folders[0], "etcd-backup-2.db"), Date.now() - 2 * day);
    await age(join(folders[0], "final-snapshot-1-x.db"), old);
    await age(join(folders[0], "recorded.db"), old);
    await age(join(folders[0], "final-snapshot-2-abcde.db"), old);
    await age(other, old);
    const keptSnapshots = { "kept-snapshots": { names: "another.db,recorded.db" } };
    const first = await run(scheduled("etcd-backup-3"), { "etcd-backup": secretOf(0), ...keptSnapshots });
    expect(codesOf(first)).toMatchObject({ verify: 0, expire: 0 });
    const kept = ["etcd-backup-2", "etcd-backup-3-abcde", "final-snapshot-1-x", "final-snapshot-2-abcde"];
    const names = kept.map((name) => `${name}.db`);
    expect((await readdir(folders[0])).sort()).toEqual([...names, "recorded.db"]);
    expect(codesOf(await run(scheduled("etcd-backup-4")))).toMatchObject({ verify: 0, expire: 0 });
    expect((await readdir(folders[0])).sort()).toEqual([...names, "etcd-backup-4-abcde.db"].sort());
    expect(await readFile(other, "utf8")).toBe("something");
  });

  test("is never put in the place of another", async () => {
    await put(join("home/bucket-1", entry, "taken-abcde.db"), "something else");
    const ended = await run(snapshotJob(home, "taken"));
    expect(ended.at(-1)).toMatchObject({ name: "upload", code: 6 });
    expect(ended.at(-1)?.stderr).toContain("immutable file modified");
    expect(await readFile(join(folders[0], "taken-abcde.db"), "utf8")).toBe("something else");
  });

  test.each([
    ["the credentials are wrong", { secretAccessKey: "guessed" }, "StatusCode: 403"],
    ["there is no bucket of that name", { bucketName: "bucket-0" }, "NoSuchBucket"],
  ])("says so when %s", async (_, change, message) => {
    const ended = await run(snapshotJob(home, "refused"), { "etcd-backup": { ...secretOf(0), ...change } });
    expect(ended.at(-1)).toMatchObject({ name: "upload" });
    expect(ended.at(-1)?.stderr).toContain(message);
  });
});

describe("a Shoot that moves to a Seed with another bucket", () => {
  const snapshot = "final-snapshot-2-abcde.db";
  let taken: Buffer;

  beforeAll(async () => {
    await run(snapshotJob(home, "final-snapshot-2"));
    taken = await readFile(join(folders[0], snapshot));
  });

  beforeEach(async () => await writeFile(join(folders[0], snapshot), taken));

  const copy = () => run(copyJob(away, "copy", { snapshot, store: findObjectStore("aws") ?? expect.fail() }), moving());
  const restore = (name = snapshot) => run(restoreJob(away, "restore", { snapshot: name, bump: false }), moving());
  const moving = () => ({ "source-etcd-backup": secretOf(0), "etcd-backup": secretOf(1) });

  test("gets a copy of its last snapshot, once, and an etcd with all that the old one had", async () => {
    const copied = { download: 0, verify: 0, upload: 0, compare: 0 };
    expect(codesOf(await copy())).toEqual(copied);
    expect(codesOf(await copy())).toEqual(copied);
    expect(await readFile(join(folders[1], snapshot))).toEqual(await readFile(join(folders[0], snapshot)));
    expect(codesOf(await restore())).toEqual({ download: 0, verify: 0, restore: 0 });
    const restored = await startEtcd(join(`pod-${pods}`, "data/new.etcd"), "http", ["--name=etcd-main-0"]);
    try {
      expect(await etcdctl(restored.endpoint, "get", "/registry/configmaps/default/kept")).toContain("by all means");
    } finally {
      await restored.child.kill();
    }
  });

  test("is told when the snapshot is not where it was recorded", async () => {
    const store = findObjectStore("aws") ?? expect.fail();
    const ended = await run(copyJob(away, "copy", { snapshot: "final-snapshot-2-other.db", store }), moving());
    expect(ended).toMatchObject([{ name: "download", code: 9 }]);
  });

  test("is told when it may not read the other bucket", async () => {
    const store = findObjectStore("aws") ?? expect.fail();
    const secrets = { ...moving(), "source-etcd-backup": { ...secretOf(0), accessKeyID: "nobody" } };
    const ended = await run(copyJob(away, "copy", { snapshot, store }), secrets);
    expect(ended.at(-1)).toMatchObject({ name: "download" });
    expect(ended.at(-1)?.stderr).toContain("StatusCode: 403");
  });

  test("is not made from a snapshot that was cut short, nor is that passed on", async () => {
    await putSnapshot("cut.db", async (file) => truncate(file, 9_000));
    const refused = (await restore("cut.db")).at(-1);
    expect(refused).toMatchObject({ name: "restore" });
    expect(refused?.code).toBeGreaterThan(0);
    const store = findObjectStore("s3") ?? expect.fail();
    const secrets = { "source-etcd-backup": secretOf(1), "etcd-backup": secretOf(0) };
    const ended = await run(copyJob(home, "copy", { snapshot: "cut.db", store }), secrets);
    expect(ended.at(-1)).toMatchObject({ name: "verify" });
    expect(await readdir(folders[0])).not.toContain("cut.db");
  });

  test("is not made from a snapshot that was changed", async () => {
    await putSnapshot("changed.db", async (file) => {
      const content = await readFile(file);
      const at = content.indexOf("by all means");
      await writeFile(file, content.fill("X", at, at + 2));
    });
    const ended = await restore("changed.db");
    expect(ended.at(-1)).toMatchObject({ name: "restore", code: 1 });
    expect(ended.at(-1)?.stderr).toContain("sha256");
  });

  test("finds the newest good one among those that nothing has recorded, before it has a copy", async () => {
    const source = findObjectStore("aws") ?? expect.fail();
    const files = ["etcd-backup-29395600-bcdfg.db", "etcd-backup-29395610-bcdfg.db"];
    for (const name of files) await writeFile(join(folders[0], name), taken);
    const [good = "", newest = ""] = files;
    await writeFile(join(folders[0], newest), taken.subarray(0, -40));
    await writeFile(join(folders[0], "etcd-backup-29395620-bcdfg.db.part"), taken);
    const [listed] = await run(listJob(away, "list", { source }), moving());
    expect(listed).toMatchObject({ name: "list", code: 0 });
    expect(listed?.stdout.split("\n").filter(Boolean).sort()).toEqual([...files, snapshot].sort());

    const check = (name: string) => run(checkJob(away, "check", { snapshot: name, source }), moving());
    const refused = (await check(newest)).at(-1);
    expect(refused).toMatchObject({ name: "restore", code: 1 });
    const passed = await check(good);
    expect(codesOf(passed)).toEqual({ download: 0, restore: 0, verify: 0 });
    expect(JSON.parse(passed.at(-1)?.stdout ?? "")).toMatchObject({ revision: 2 });
    expect((await check("etcd-backup-29395630-bcdfg.db")).at(-1)).toMatchObject({ name: "download" });
  });

  test("sees a folder that is not there as an empty one, and a bucket that is not there as an error", async () => {
    await rm(folders[0], { recursive: true });
    const source = findObjectStore("aws") ?? expect.fail();
    const list = (change: Record<string, string>) =>
      run(listJob(away, "list", { source }), { ...moving(), "source-etcd-backup": { ...secretOf(0), ...change } });
    expect(await list({})).toMatchObject([{ name: "list", code: 0, stdout: "" }]);
    for (const change of [{ bucketName: "bucket-0" }, { secretAccessKey: "guessed" }])
      expect((await list(change)).map(({ code }) => code > 0)).toEqual([true]);
  });

  const putSnapshot = async (name: string, damage: (file: string) => Promise<void>) => {
    await writeFile(join(folders[1], name), await readFile(join(folders[0], snapshot)));
    await damage(join(folders[1], name));
  };
});

function seedOf(uid: string, provider: string) {
  const { metadata, spec } = example.seed;
  const seed: Seed = { ...example.seed, metadata: { ...metadata, uid }, spec: { ...spec, backup: { provider } } };
  return { ...example, seed };
}

/** What the BackupEntry's controller puts into the Shoot's namespace. */
const secretOf = (index: 0 | 1): Record<string, string> => ({
  ...keys[index],
  bucketName: `bucket-${index + 1}`,
  region: "eu-west-1",
  endpoint: servers[index].endpoint,
  s3ForcePathStyle: "true",
});

/** Each pod has folders of its own. */
async function run(job: KubeObject, secrets: Record<string, Record<string, string>> = { "etcd-backup": secretOf(0) }) {
  const folder = join(directory, `pod-${(pods += 1)}`);
  await mkdir(join(folder, "backup"), { recursive: true });
  await mkdir(join(folder, "data"));
  const local = (word: string) =>
    word
      .replaceAll("/srv/kubernetes", `${directory}/srv/kubernetes`)
      .replace(/^\/backup\b/, `${folder}/backup`)
      .replaceAll("/var/etcd/data", `${folder}/data`)
      .replaceAll("https://etcd-main-client:2379", etcd.endpoint);
  const env = { RCLONE_CA_CERT: `${directory}/srv/kubernetes/ca-etcd/ca.crt` };
  return await runPod(job, { secrets, local, env });
}

const codesOf = (ended: readonly Ended[]) => Object.fromEntries(ended.map(({ name, code }) => [name, code]));

/** The Job that the schedule makes. */
function scheduled(name: string): KubeObject {
  const [cronJob] = components["etcd-backup"].objects(home);
  const { spec } = (cronJob as unknown as { spec: { jobTemplate: { spec: object } } }).spec.jobTemplate;
  return { apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec };
}

async function startEtcd(data: string, scheme: "http" | "https", flags: readonly string[]) {
  const [client, peer] = await freePorts(2);
  const endpoint = `${scheme}://127.0.0.1:${client}`;
  const listen = [`--listen-client-urls=${endpoint}`, `--advertise-client-urls=${endpoint}`];
  const peers = [`--listen-peer-urls=http://127.0.0.1:${peer}`];
  const child = await spawnChild(directory, "etcd", [
    `--data-dir=${join(directory, data)}`,
    ...listen,
    ...peers,
    ...flags,
  ]);
  await eventually(async () => {
    if (!child.alive()) throw new Error(`etcd ended:\n${child.output()}`);
    await etcdctl(endpoint, "endpoint", "health");
  }, 30_000);
  return { child, endpoint };
}

async function etcdctl(endpoint: string, ...words: readonly string[]): Promise<string> {
  const client = join(directory, "srv/kubernetes/kube-apiserver-etcd-client");
  const files = [
    `--cacert=${directory}/srv/kubernetes/ca-etcd/ca.crt`,
    `--cert=${client}/tls.crt`,
    `--key=${client}/tls.key`,
  ];
  const secure = endpoint.startsWith("https") ? files : [];
  const { code, stdout, stderr } = await runProgram("etcdctl", [...words, `--endpoints=${endpoint}`, ...secure]);
  if (code !== 0) throw new Error(`etcdctl ${words.join(" ")}: ${stderr}`);
  return stdout;
}

async function put(path: string, content: string): Promise<void> {
  const file = join(directory, path);
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, content, { mode: 0o600 });
}

async function age(file: string, time: number): Promise<void> {
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, "something");
  await utimes(file, time / 1000, time / 1000);
}
