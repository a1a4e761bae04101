import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createBuckets, type Buckets } from "../../../src/provider-local/backup/buckets.ts";
import { expiredSnapshots } from "../../../src/provider-local/backup/retention.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

describe("retention", () => {
  const now = Date.UTC(2026, 0, 31, 12, 34);
  const every = (step: number, span: number) =>
    Array.from({ length: Math.floor(span / step) }, (_, i) => ({ name: `s${i}`, takenAt: now - i * step }));
  const kept = (snapshots: ReturnType<typeof every>) => {
    const expired = new Set(expiredSnapshots(snapshots, now));
    return snapshots.filter((one) => !expired.has(one));
  };

  test("keeps the newest, one of each hour of the last day and one of each day of the last week", () => {
    const snapshots = kept(every(10 * minute, 30 * day));
    const ages = snapshots.map(({ takenAt }) => now - takenAt);
    expect(ages.filter((age) => age < 4 * hour)).toHaveLength(24);
    expect(ages.filter((age) => age >= 4 * hour && age <= day)).toHaveLength(20);
    expect(ages.filter((age) => age > day)).toHaveLength(6);
    expect(Math.max(...ages)).toBeLessThanOrEqual(7 * day);
  });

  test("never takes a snapshot that is named, however old it is and whatever is newer", () => {
    const snapshots = every(10 * minute, 30 * day);
    const named = snapshots.at(-1)?.name ?? "";
    const expired = expiredSnapshots(snapshots, now, [named, "gone"]).map(({ name }) => name);
    expect(expired).not.toContain(named);
    expect(expired).toHaveLength(expiredSnapshots(snapshots, now).length - 1);
  });
});

describe("a bucket on disk", () => {
  let directory: string;
  let buckets: Buckets;
  const signal = new AbortController().signal;
  const entry = "shoot--dev--a--0000";
  const write = async (bucket: string, name: string, text: string, takenAt: number) => {
    const file = join(directory, "buckets", bucket, entry, name);
    await writeFile(file, text);
    await utimes(file, takenAt / 1000, takenAt / 1000);
  };
  const copyAll = async () => {
    for (const one of await buckets.list("old", entry))
      await buckets.copy(entry, one, { from: "old", to: "new", signal });
  };

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "buckets-"));
    buckets = createBuckets(join(directory, "buckets"));
    for (const bucket of ["old", "new"]) {
      await buckets.createBucket(bucket);
      await buckets.createEntry(bucket, entry);
    }
  });
  afterEach(() => rm(directory, { recursive: true }));

  test("is closed to all users but its owner", async () => {
    expect((await stat(join(directory, "buckets"))).mode & 0o777).toBe(0o700);
  });

  test("knows only whole snapshots", async () => {
    await write("old", "a.db", "a", 1_000);
    await write("old", "b.db.part", "b", 2_000);
    expect(await buckets.list("old", entry)).toEqual([{ name: "a.db", size: 1, takenAt: 1_000 }]);
  });

  test("copies with the time at which a snapshot was taken, and leaves the old bucket as it is", async () => {
    await write("old", "a.db", "a", 1_000);
    await copyAll();
    expect(await buckets.list("new", entry)).toEqual(await buckets.list("old", entry));
  });

  test("copies what has come since, and again what was cut short", async () => {
    await write("old", "a.db", "whole", 1_000);
    await write("new", "a.db", "who", 1_000);
    await copyAll();
    await write("old", "b.db", "later", 2_000);
    await copyAll();
    const read = (name: string) => readFile(join(directory, "buckets", "new", entry, name), "utf8");
    expect([await read("a.db"), await read("b.db")]).toEqual(["whole", "later"]);
    expect(await readdir(join(directory, "buckets", "new", entry))).toHaveLength(2);
  });

  test("sweeps out unfinished copies, but not what is being written", async () => {
    await write("old", "dead.db.part", "x", 1_000);
    await write("old", "alive.db.part", "x", 3_000);
    await write("old", "a.db", "x", 1_000);
    await buckets.sweep("old", entry, 2_000);
    expect((await readdir(join(directory, "buckets", "old", entry))).toSorted()).toEqual(["a.db", "alive.db.part"]);
  });

  test("is not removed while it holds something, which it names; empty entries go with it", async () => {
    await write("old", "a.db", "a", 1_000);
    await buckets.createEntry("old", "shoot--dev--b--0000");
    await expect(buckets.removeBucket("old")).rejects.toThrow(
      new RegExp(`cannot remove bucket old: .*/old/${entry} is not empty`),
    );
    await buckets.removeEntry("old", entry);
    await buckets.createEntry("old", entry);
    await buckets.removeBucket("old");
    await buckets.removeBucket("old");
    await expect(buckets.createEntry("old", entry)).rejects.toThrow("there is no bucket old");
  });

  test("follows no link that a pod has put into it, neither to read nor to write, and waits for no pipe", async () => {
    const at = (bucket: string, name: string) => join(directory, "buckets", bucket, entry, name);
    await writeFile(join(directory, "secret"), "of the machine");
    await write("old", "a.db", "a", 1_000);
    await symlink(join(directory, "secret"), at("old", "b.db"));
    await symlink(join(directory, "secret"), at("new", "a.db.copy"));
    execFileSync("mkfifo", [at("old", "c.db")]);
    expect((await buckets.list("old", entry)).map(({ name }) => name)).toEqual(["a.db"]);
    await copyAll();
    expect(await readFile(at("new", "a.db"), "utf8")).toBe("a");
    expect(await readFile(join(directory, "secret"), "utf8")).toBe("of the machine");
    for (const name of ["b.db", "c.db"]) {
      const listedBefore = { name, size: 1, takenAt: 1_000 };
      await expect(buckets.copy(entry, listedBefore, { from: "old", to: "new", signal })).rejects.toThrow();
    }
    expect(await readdir(join(directory, "buckets", "new", entry))).toEqual(["a.db"]);
  });

  test("refuses names that lead out of it", async () => {
    await expect(buckets.createEntry("old", "../x")).rejects.toThrow("../x is no name in a bucket");
  });
});
