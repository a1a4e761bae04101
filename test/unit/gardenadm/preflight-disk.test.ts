import { mkdir, readdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { preflight } from "../../../src/gardenadm/preflight/preflight.ts";
import { judgeDisk, judgeSyncs, measureSyncs } from "../../../src/gardenadm/preflight/sync-time.ts";
import { bareRoot, type BareRoot } from "../../support/bare-root.ts";

let machine: BareRoot;

beforeEach(async () => {
  machine = await bareRoot();
});

afterEach(async () => {
  await machine.remove();
});

const folder = () => join(machine.root, "/var/lib");

test("a disk is tried by writes that leave nothing", async () => {
  const times = await measureSyncs(folder());
  expect(times.length).toBeGreaterThan(0);
  expect(times.length).toBeLessThanOrEqual(50);
  expect(Math.min(...times)).toBeGreaterThan(0);
  expect(await readdir(folder())).toEqual([]);
});

test("a disk that is slow is not tried for longer than was said", async () => {
  expect(await measureSyncs(folder(), { writes: 1_000_000, milliseconds: 50 })).not.toHaveLength(1_000_000);
  expect(await measureSyncs(folder(), { writes: 3, milliseconds: 60_000 })).toHaveLength(3);
});

test("a disk that takes no writes is said with its error, and what was begun there goes", async () => {
  await symlink("/dev/full", join(folder(), ".gardenadm-preflight"));
  const { faults } = await preflight(machine.candidate, "control-plane");
  expect(faults).toContainEqual(
    expect.stringMatching(/^etcd could not write to \/var\/lib: ENOSPC.*: mount a disk there that can be written$/),
  );
  expect(await readdir(folder())).toEqual([]);
});

test("a folder that is not there is said, too", async () => {
  await rm(folder(), { recursive: true });
  const { faults } = await preflight(machine.candidate, "control-plane");
  expect(faults).toContainEqual(expect.stringMatching(/^etcd could not write to \/var\/lib: ENOENT/));
  await mkdir(folder());
});

test("the median counts, which single hiccups do not move", () => {
  const none = { faults: [], warnings: [] };
  expect(judgeSyncs([3, 4, 2000, 4, 3, 3000, 5], "/var/lib")).toEqual(none);
  expect(judgeSyncs([50], "/var/lib")).toEqual(none);
  expect(judgeSyncs([80, 70, 90], "/var/lib")).toEqual({
    faults: [],
    warnings: [
      "/var/lib takes 80 ms for a small write to be on the disk, and the API server will be slow (etcd asks for 10 ms): mount a disk there that others do not keep busy, best an SSD",
    ],
  });
  expect(judgeSyncs([900, 2, 700, 800, 1], "/var/lib")).toEqual({
    faults: [
      "/var/lib takes 700 ms for a small write to be on the disk, and etcd would lose its leader over that: mount a disk there that others do not keep busy, best an SSD",
    ],
    warnings: [],
  });
});

test("a disk that others keep busy for a while is tried again, and one that stays too slow is refused", async () => {
  const disk = (...trials: readonly (readonly number[])[]) => {
    const asked = [...trials];
    const judged = judgeDisk(async () => asked.shift() ?? expect.fail("tried too often"), "/var/lib", {
      ...{ trials: 3, pause: 1 },
    });
    return judged.then(({ faults, warnings }) => ({
      faults: faults.length,
      warnings: warnings.length,
      left: asked.length,
    }));
  };
  expect(await disk([1165, 1165], [900], [3, 4])).toEqual({ faults: 0, warnings: 0, left: 0 });
  expect(await disk([1165], [80], [3])).toEqual({ faults: 0, warnings: 1, left: 1 });
  expect(await disk([1165], [900], [700])).toEqual({ faults: 1, warnings: 0, left: 0 });
});

test("a control plane needs room on its disk, and a machine where it is at work is not asked again", async () => {
  const candidate = { ...machine.candidate, diskSpace: 1024 ** 3 };
  const sentence = "/var/lib has 1024 MiB of free space: make room, at least 2048 MiB";
  expect((await preflight(candidate, "control-plane")).faults).toContain(sentence);
  expect((await preflight(candidate, "worker")).faults).not.toContain(sentence);
  expect((await preflight({ ...candidate, isBegun: true }, "control-plane")).faults).toEqual([]);
});
