import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { KubeObject, Shoot } from "../../../src/api/index.ts";
import { lastingSecrets } from "../../../src/activities/secrets/plan.ts";
import { ensureBundleKeys } from "../../../src/etcd-data/bundle-keys.ts";
import { bundleOf, sealBundle } from "../../../src/etcd-data/bundle.ts";
import type { MemberStatus } from "../../../src/etcd/status.ts";
import { backupAccessOf } from "../../../src/gardenadm/configuration/backup.ts";
import { keepBackupAccess, readBackupAccess } from "../../../src/gardenadm/machine/backup-access.ts";
import { sentenceOf } from "../../../src/gardenadm/mending/announce-loss.ts";
import { foundingSettings, readOwnMember } from "../../../src/gardenadm/mending/own-member.ts";
import { putManifestsAside, putManifestsBack } from "../../../src/gardenadm/mending/manifests.ts";
import { refusalToSurvive } from "../../../src/gardenadm/restore/quorum.ts";
import { bundleKeyFile } from "../../../src/gardenadm/reconcile/backup.ts";
import { placesIn } from "../../../src/gardenadm/machine/places.ts";
import { refuseRunning } from "../../../src/gardenadm/restore/restore.ts";
import { readBegun } from "../../../src/gardenadm/machine/begun-restore.ts";
import { createBackupRestoreActions, type BackupRestoreDeps } from "../../../src/gardenadm/restore/backup-actions.ts";
import { judge } from "../../../src/gardenadm/steps/fault.ts";
import { findSources } from "../../../src/gardenadm/restore/source.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "restore-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const member = (name: string) => ({
  ...{ id: name, name, peerURLs: [`https://${name}`], clientURLs: [], isLearner: false, started: true },
});
const working = (name: string): MemberStatus => ({
  ...{ member: member(name), answers: true, version: "3.6.10", dbSize: 1, leader: "a", term: 2 },
  ...{ raftIndex: 1, appliedIndex: 1, errors: [] },
});
const leaderless = (name: string): MemberStatus => {
  const { leader: _, ...status } = working(name) as Extract<MemberStatus, { answers: true }>;
  return status;
};
const silent = (name: string): MemberStatus => ({ member: member(name), answers: false, reason: "refused" });

test.each<readonly [string, readonly MemberStatus[], boolean, RegExp | undefined]>([
  ["quorum at work", [working("a"), working("b"), silent("c")], true, /^quorum is not lost: 2 of 3/],
  ["enough that answer, without a leader yet", [leaderless("a"), leaderless("b"), silent("c")], true, /no leader yet/],
  ["silent members that may come back", [leaderless("a"), silent("b"), silent("c")], false, /b \(.*\) and member c/],
  ["members that people say are lost", [leaderless("a"), silent("b"), silent("c")], true, undefined],
])("a survivor with %s", (_, statuses, isLost, refused) => {
  const answer = refusalToSurvive(statuses, isLost);
  if (refused === undefined) expect(answer).toBeUndefined();
  else expect(answer).toMatch(refused);
});

const shootWith = (backup: object): Shoot =>
  ({
    metadata: { namespace: "garden", name: "root" },
    spec: { provider: { workers: [{ name: "cp", controlPlane: { backup } }] } },
  }) as unknown as Shoot;
const secret: KubeObject = {
  ...{ apiVersion: "v1", kind: "Secret", metadata: { namespace: "garden", name: "bucket" } },
  data: { accessKeyID: Buffer.from("key").toString("base64"), bucketName: Buffer.from("mine").toString("base64") },
};
const bucket: KubeObject = {
  apiVersion: "core.gardener.cloud/v1beta1",
  kind: "BackupBucket",
  metadata: { name: "other" },
};

test("backups are reached with the Secret that the Shoot names; what it does not say, BackupBucket and region do", () => {
  const shoot = shootWith({ provider: "s3", region: "here", credentialsRef: { name: "bucket" } });
  const found = backupAccessOf({ shoot, objects: [secret, bucket] });
  expect(found).toEqual({ provider: "s3", secret: { accessKeyID: "key", bucketName: "mine", region: "here" } });
  const nameless = { ...secret, data: {} };
  expect(backupAccessOf({ shoot, objects: [nameless, bucket] })?.secret["bucketName"]).toBe("other");
});

test("how a machine reaches its backups is for root alone, and is not written again when it is known", async () => {
  const access = { provider: "s3", uid: "1", secret: { accessKeyID: "key" } };
  await keepBackupAccess(folder, access);
  const file = join(folder, "/var/lib/gardenadm/backup/access.json");
  const { mtimeMs, mode } = await stat(file);
  expect(mode & 0o077).toBe(0);
  await keepBackupAccess(folder, { ...access });
  expect((await stat(file)).mtimeMs).toBe(mtimeMs);
  expect(await readBackupAccess(folder)).toEqual(access);
});

test("how a machine reaches its backups is the same file, in whichever order that was found out", async () => {
  const secret = { accessKeyID: "key", bucketName: "b" };
  const [one, other] = [join(folder, "one"), join(folder, "other")];
  await keepBackupAccess(one, { provider: "s3", uid: "1", secret });
  await keepBackupAccess(other, { uid: "1", secret: { bucketName: "b", accessKeyID: "key" }, provider: "s3" });
  const [text, same] = await Promise.all(
    [one, other].map(async (root) => await readFile(join(root, "var/lib/gardenadm/backup/access.json"), "utf8")),
  );
  expect(same).toBe(text);
});

test("a member is alone by the settings of its own machine, and founds a cluster by a change of these only", async () => {
  const at = join(folder, "/var/lib/static-pods/etcd-main/etcd-main-config");
  await mkdir(at, { recursive: true });
  const settings = (cluster: string) =>
    `name: a\ninitial-advertise-peer-urls: https://a:2380\ninitial-cluster: ${cluster}\ninitial-cluster-state: existing\n`;
  await writeFile(join(at, "etcd.yaml"), settings("a=https://a:2380"));
  const found = (await readOwnMember("main", folder)) ?? expect.fail("there is one");
  expect(found).toMatchObject({ name: "a", peerURL: "https://a:2380", token: "etcd-main", others: [] });
  expect(foundingSettings(found)).toContain("initial-cluster-state: new\n");
  await writeFile(join(at, "etcd.yaml"), settings("a=https://a:2380,b=https://10.0.0.2:2380"));
  const survivor = (await readOwnMember("main", folder)) ?? expect.fail("there is one");
  expect(survivor.others).toEqual([{ name: "b", addresses: ["10.0.0.2"] }]);
  expect(foundingSettings(survivor)).toBe(settings("a=https://a:2380").replace("existing", "new"));
  await writeFile(join(at, "etcd.yaml"), settings("a=https://a:2380,b=https://[fd00::2]:2380"));
  expect((await readOwnMember("main", folder))?.others).toEqual([{ name: "b", addresses: ["fd00::2"] }]);
  expect(await readOwnMember("events", folder)).toBeUndefined();
});

test("manifests that are put aside come back, and others stay where they are", async () => {
  const [manifests, aside] = [join(folder, "/etc/kubernetes/manifests"), join(folder, "aside")];
  await mkdir(manifests, { recursive: true });
  for (const name of ["etcd-main.yaml", "kube-apiserver.yaml"]) await writeFile(join(manifests, name), name);
  await putManifestsAside(folder, aside, ["etcd-main.yaml"]);
  expect(await readdir(manifests)).toEqual(["kube-apiserver.yaml"]);
  await putManifestsBack(folder, aside);
  expect((await readdir(manifests)).sort()).toEqual(["etcd-main.yaml", "kube-apiserver.yaml"]);
  expect(await readFile(join(manifests, "etcd-main.yaml"), "utf8")).toBe("etcd-main.yaml");
});

test("what was lost is said in a sentence", () => {
  const loss = { role: "main" as const, why: "there is no data", from: "snapshot one", aside: "/old" };
  expect(sentenceOf(loss)).toBe(
    "there is no data: etcd-main goes on from snapshot one, and what was written since is lost; the old data are in /old",
  );
});

test("a file is restored with its bundle beside it only, by its own key, and for its own Shoot", async () => {
  const file = join(folder, "snapshot.db");
  const keys = await ensureBundleKeys(join(folder, "keys.json"));
  const search = (shoot: object, others = keys) =>
    findSources({
      ...{ from: file, keys: others, folder, signal: new AbortController().signal },
      shoot: { metadata: { namespace: "garden", name: "root", ...shoot } } as Shoot,
      openStore: async () => await Promise.reject(new Error("not asked for")),
    }).next();
  await expect(search({})).rejects.toThrow("put the bundle beside its snapshot");
  const secrets = lastingSecrets.map((name) => ({ apiVersion: "v1", kind: "Secret", metadata: { name }, data: {} }));
  const shoot = { namespace: "garden", name: "root", uid: "1" };
  await writeFile(`${file}.bundle`, sealBundle(bundleOf({ shoot, secrets, configuration: [] }), keys));
  expect((await search({})).value).toMatchObject({ file, bundle: { shoot } });
  await expect(search({ name: "other" })).rejects.toThrow(
    "the backup is of Shoot garden/root, and the configuration is of garden/other: take the one that belongs to it",
  );
  await expect(search({ namespace: "garden-of-others" })).rejects.toThrow(
    "the configuration is of garden-of-others/root",
  );
  await expect(search({ uid: "2" })).rejects.toThrow("the Shoot to restore has uid 2");
  const strangers = await ensureBundleKeys(join(folder, "others.json"));
  await expect(search({}, strangers)).rejects.toThrow("name the key file that has this key");
});

test("of a bucket with the backups of two clusters, none is restored before the Shoot says which one it is", async () => {
  const files = ["one", "two"].flatMap((uid) =>
    ["", ".bundle"].map((end) => `kube-system--${uid}/etcd-backup-29000000-aaaaa.db${end}\t1\t2026-01-01T10:00:00Z`),
  );
  const store = { bucket: "store:b", rclone: async () => files.join("\n") };
  const search = (from: string) =>
    findSources({
      ...{ from, keys: [], folder: join(folder, "two"), signal: new AbortController().signal },
      shoot: { metadata: { namespace: "garden", name: "root" } } as Shoot,
      openStore: async () => store,
    }).next();
  for (const from of ["latest", "etcd-backup-29000000-aaaaa.db"])
    await expect(search(from)).rejects.toThrow(/backups of 2 clusters: .* of (one, two|two, one)$/);
});

test("the operator's key file is kept with the configuration for its owner alone, however open the given one is", async () => {
  const [key, configuration, from] = [
    join(folder, "given.json"),
    join(folder, "configuration"),
    join(folder, "taken.db"),
  ];
  await mkdir(configuration);
  const keys = await ensureBundleKeys(key);
  await chmod(key, 0o644);
  const text = await readFile(key, "utf8");
  const metadata = { namespace: "garden", name: "root", uid: "1" };
  const secrets = lastingSecrets.map((name) => ({
    ...{ apiVersion: "v1", kind: "Secret", data: {} },
    metadata: { namespace: "kube-system", name },
  }));
  await writeFile(`${from}.bundle`, sealBundle(bundleOf({ shoot: metadata, secrets, configuration: [] }), keys));
  const { source, keptSecrets } = createBackupRestoreActions({
    ...{ machine: { root: join(folder, "machine"), hostName: "a", addresses: ["10.0.0.1"] }, from, key },
    configuration: { folder: configuration, shoot: { metadata, spec: { kubernetes: { version: "1.35.2" } } } },
  } as unknown as BackupRestoreDeps);
  const scope = { signal: new AbortController().signal, tell: () => {} };
  await writeFile(key, "{");
  await expect(source(scope)).rejects.toThrow();
  expect(await readBegun(join(folder, "machine"))).toEqual({ from, restored: [], searching: true });
  await writeFile(key, text);
  await source(scope);
  expect(await readBegun(join(folder, "machine"))).toEqual({ from, restored: [] });
  await keptSecrets(scope);
  const kept = bundleKeyFile(configuration);
  expect(await readFile(kept, "utf8")).toBe(await readFile(key, "utf8"));
  expect((await stat(kept)).mode & 0o777).toBe(0o600);
});

test("a store that goes away while the next snapshot is fetched is asked again, and that one is restored then", async () => {
  const root = join(folder, "away");
  const bin = join(root, "/var/lib/gardenadm/restore/bin");
  const configuration = join(folder, "configuration-away");
  for (const made of [bin, configuration]) await mkdir(made, { recursive: true });
  const keys = await ensureBundleKeys(bundleKeyFile(configuration));
  const metadata = { namespace: "garden", name: "root", uid: "1" };
  const secrets = lastingSecrets.map((name) => ({ apiVersion: "v1", kind: "Secret", metadata: { name }, data: {} }));
  await writeFile(join(root, "bundle"), sealBundle(bundleOf({ shoot: metadata, secrets, configuration: [] }), keys));
  await writeFile(join(root, "away"), "");
  await writeFile(join(bin, "rclone"), awayRclone(root), { mode: 0o755 });
  await writeFile(join(bin, "etcdutl"), CHOOSY_ETCDUTL, { mode: 0o755 });
  const store = { accessKeyID: "a", secretAccessKey: "b", bucketName: "c", endpoint: "https://d", region: "e" };
  const data = Object.fromEntries(
    Object.entries(store).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );
  const backed = shootWith({ provider: "s3", credentialsRef: { name: "bucket" } });
  const { source, etcdData } = createBackupRestoreActions({
    ...{ machine: { root, hostName: "a", addresses: ["10.0.0.1"] }, from: "latest" },
    configuration: {
      folder: configuration,
      shoot: { metadata, spec: { ...backed.spec, kubernetes: { version: "1.35.2" } } },
      objects: [{ ...secret, data }],
    },
  } as unknown as BackupRestoreDeps);
  const scope = { signal: new AbortController().signal, tell: () => {} };
  await source(scope);
  const error: unknown = await etcdData(scope).catch((failed: unknown) => failed);
  expect(judge(error)).toMatchObject({ retryable: true, within: 5_000 });
  await expect(etcdData(scope)).rejects.toThrow("connection refused"); // as long as it is away
  await rm(join(root, "away"));
  await etcdData(scope);
  expect(await readFile(join(root, "/var/lib/etcd-main/data/new.etcd/member/of"), "utf8")).toMatch(
    /29000000-older\.db$/m,
  );
  expect(await readBegun(root)).toEqual({ from: "latest", restored: ["main"] });
});

/** A store with two snapshots, which is away whenever the older one is asked for as long as a file `away` is there. */
const awayRclone = (root: string) => `#!/bin/sh
case "$1" in
lsf) for name in 29000010-newer 29000000-older; do for suffix in db db.bundle; do
  printf 'kube-system--1/etcd-backup-%s.%s\\t1\\t\\n' $name $suffix
done; done ;;
copyto)
  case "$2" in *older*) [ ! -e ${root}/away ] || { echo "dial tcp: connection refused" >&2; exit 1; } ;; esac
  cp ${root}/bundle "$3" ;;
esac
`;

/** Finds the newer one damaged, and notes of what it has made data. */
const CHOOSY_ETCDUTL = `#!/bin/sh
case "$*" in *newer*) echo "Error: sha256 mismatch" >&2; exit 1 ;; esac
for word; do case "$word" in
*.db) snapshot=$word ;;
--data-dir=*) mkdir -p "\${word#--data-dir=}/member"; echo "$snapshot" >"\${word#--data-dir=}/member/of" ;;
esac; done
`;

test("over a control plane, nothing is restored; where init was only begun, what it has left is to go first", async () => {
  const root = join(folder, "begun");
  const { shootUid, imported } = placesIn(root);
  await refuseRunning(root);
  await mkdir(dirname(shootUid), { recursive: true });
  await writeFile(shootUid, "1\n");
  await expect(refuseRunning(root)).rejects.toThrow(
    "'gardenadm init' was begun on this machine, and has made keys of another cluster: take away with 'gardenadm reset --machine-only' what it has left",
  );
  await writeFile(imported, "");
  await expect(refuseRunning(root)).rejects.toThrow("this machine carries a control plane already");
});
