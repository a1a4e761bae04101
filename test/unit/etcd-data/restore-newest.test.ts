import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { restoreNewest } from "../../../src/etcd-data/restore-newest.ts";
import { CommandError } from "../../../src/node-agent/commands.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "restore-newest-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

const DAMAGED = "expected sha256 [185 1], got [185 2]";

test("a snapshot that is damaged is passed over, and the next one is restored", async () => {
  const { done, skipped } = await restore({ newest: new CommandError(DAMAGED, 1) });
  expect(done).toMatchObject({ restored: { file: "older" } });
  expect(skipped).toEqual(["newest"]);
  expect(await readdir(folder)).toContain("new.etcd");
});

test.each([
  ["no room", "write /var/lib/etcd-main/data/new.etcd.new/member/snap/db: no space left on device", 1],
  ["a disk that fails for a moment", "read /var/lib/gardenadm/backup/fetched/x.db: input/output error", 1],
  ["a disk that is read-only", "mkdir /var/lib/etcd-main/data: read-only file system", 1],
  ["too little memory", "fatal error: runtime: cannot allocate memory", 2],
  ["an etcdutl that was killed", "etcdutl ended with SIGKILL", undefined],
])("with %s, no older snapshot is restored", async (_, words, exitCode) => {
  const { done, skipped } = await restore({ newest: new CommandError(words, exitCode) });
  expect(done).toMatchObject({ message: `cannot restore newest: ${words}` });
  expect(skipped).toEqual([]);
  expect(await readdir(folder)).not.toContain("new.etcd");
});

test("where none is whole, the last one says why, and where there is none, nothing is restored", async () => {
  const failures = { newest: new CommandError(DAMAGED, 1), older: new CommandError("snapshot missing hash", 1) };
  const { done, skipped } = await restore(failures);
  expect(done).toMatchObject({ message: "cannot restore older: snapshot missing hash" });
  expect(skipped).toEqual(["newest", "older"]);
  expect((await restore({}, [])).done).toBeUndefined();
});

/** What comes of a restore by an etcdutl that fails so at these snapshots. */
async function restore(failures: Readonly<Record<string, Error>>, files: readonly string[] = ["newest", "older"]) {
  const skipped: string[] = [];
  const etcdutl = async ([, , snapshot = "", dataDir = ""]: readonly string[]) => {
    const failure = failures[snapshot];
    if (failure !== undefined) throw failure;
    await mkdir(dataDir.replace("--data-dir=", ""));
    return "";
  };
  const done: unknown = await restoreNewest(
    { etcdutl },
    {
      candidates: each(files),
      skipped: ({ file }) => void skipped.push(file),
      place: { dataDir: join(folder, "new.etcd"), mark: join(folder, "has-data") },
      member: { name: "a", peerURL: "https://a:2380", token: "etcd-main" },
    },
  ).catch((error: unknown) => error);
  return { done, skipped };
}

async function* each(files: readonly string[]) {
  for (const file of files) yield await Promise.resolve({ file });
}
