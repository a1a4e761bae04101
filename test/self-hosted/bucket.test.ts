import { access, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStore } from "../../src/etcd-data/store.ts";
import { ensureBucket, type Bucket } from "../../src/local/bare/bucket.ts";
import { createBareMachines } from "../../src/local/bare/machines.ts";
import { findSet } from "../../src/local/bare/set.ts";
import { createProcesses } from "../../src/local/process/processes.ts";
import { createLogger } from "../../src/log.ts";
import { findBinary } from "../support/binary.ts";
import { findRemains } from "../support/machine-remains.ts";

const set = "test-backup";
const log = createLogger({ name: set, level: "warn" });
const machines = createBareMachines(set, log);
let folder: string;
let bucket: Bucket;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bucket-"));
  await machines.removeAll();
  bucket = await ensureBucket(set, log);
});

afterAll(async () => {
  await machines.removeAll();
  await rm(folder, { recursive: true, force: true });
});

test("what was put into the bucket is there when its process was killed and the command is given again", async () => {
  await writeFile(join(folder, "file"), "kept");
  const store = openStore({ provider: "s3", secret: { ...bucket } }, await findBinary("rclone"));
  await store.rclone(["copyto", join(folder, "file"), `${store.bucket}/file`, "--config="]);
  process.kill(await pidOf(), "SIGKILL");
  expect(await ensureBucket(set, log)).toEqual(bucket);
  await store.rclone(["copyto", `${store.bucket}/file`, join(folder, "back"), "--config="]);
  expect(await readFile(join(folder, "back"), "utf8")).toBe("kept");
});

test("the command that finds the bucket running leaves it alone", async () => {
  const pid = await pidOf();
  expect(await ensureBucket(set, log)).toEqual(bucket);
  expect(await pidOf()).toBe(pid);
});

test("other keys are refused, and no process list shows the bucket's own", async () => {
  const secret = { ...bucket, secretAccessKey: "guessed" };
  const store = openStore({ provider: "s3", secret }, await findBinary("rclone"));
  await expect(store.rclone(["lsf", `${store.bucket}/`, "--config=", "--retries=1"])).rejects.toThrow(
    /Forbidden|Signature|403/,
  );
  expect(await readFile(`/proc/${await pidOf()}/cmdline`, "utf8")).not.toContain(bucket.secretAccessKey);
});

test("the bucket goes with its set", async () => {
  const found = await findSet(set);
  const pid = await pidOf();
  await machines.removeAll();
  await expect(access(`/proc/${pid}`)).rejects.toThrow("ENOENT");
  expect(found && (await findRemains(found))).toEqual([]);
});

async function pidOf(): Promise<number> {
  const found = (await findSet(set)) ?? expect.fail("there is no set");
  const [status] = await createProcesses(found, log).list();
  return status?.pid ?? expect.fail("no process of the set runs");
}
