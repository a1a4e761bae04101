import { mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DataInUseError, databaseOf, refuseRunning } from "../../../src/etcd-data/in-use.ts";
import { flock } from "../../../src/in-process/flock.ts";

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "in-use-"));
  await mkdir(dirname(databaseOf(dataDir)), { recursive: true });
  await writeFile(databaseOf(dataDir), "");
});

afterEach(async () => {
  await rm(dataDir, { recursive: true });
});

/** What is done while another one has the lock, as an etcd has that of its database, or as etcdutl has it that reads. */
async function whileLocked(sort: "exclusive" | "shared", work: () => Promise<void>): Promise<void> {
  const held = await open(databaseOf(dataDir), "r+");
  try {
    expect(await flock(held, sort)).toBe(true);
    await work();
  } finally {
    await held.close();
  }
}

test("an etcd runs as long as it has the lock of its database alone, and a program that reads is none", async () => {
  await refuseRunning(dataDir);
  await whileLocked("exclusive", async () => {
    await expect(refuseRunning(dataDir)).rejects.toThrow(new DataInUseError(dataDir));
  });
  await whileLocked("shared", async () => await refuseRunning(dataDir));
});

test("a look leaves the lock to the etcd that starts", async () => {
  await refuseRunning(dataDir);
  await whileLocked("exclusive", async () => await Promise.resolve());
});

test("where there is no database, or no folder of one, no etcd runs", async () => {
  await rm(databaseOf(dataDir));
  await refuseRunning(dataDir);
  await refuseRunning(join(dataDir, "none"));
});
