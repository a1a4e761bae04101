import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createProcesses, type Processes } from "../../../src/local/process/processes.ts";
import { parseStat, sameProcess } from "../../../src/local/process/table.ts";
import { createLogger } from "../../../src/log.ts";

let stateDir: string;
let processes: Processes;

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "perennial-processes-"));
  processes = createProcesses({ stateDir }, createLogger({ name: "test", level: "silent" }));
});

afterEach(async () => {
  for (const { name } of await processes.list()) await processes.stop(name);
  await rm(stateDir, { recursive: true });
});

const sleeper = { name: "sleeper", command: "sleep", args: ["600"] };

it("a process that runs unchanged is left alone, a changed one is restarted", async () => {
  expect(await processes.start(sleeper)).toBe("started");
  const [first] = await processes.list();
  expect(await processes.start(sleeper)).toBe("running");
  expect((await processes.list())[0]?.pid).toBe(first?.pid);
  expect(await processes.start({ ...sleeper, version: "2" })).toBe("started");
  expect((await processes.list())[0]?.pid).not.toBe(first?.pid);
});

it("a running process is listed with its pid and memory, a dead one as not running", async () => {
  await processes.start(sleeper);
  const [status] = await processes.list();
  expect(status).toMatchObject({ name: "sleeper", running: true });
  // A process that has just been forked has no pages of its own yet.
  await expect.poll(async () => (await processes.list())[0]?.rssBytes).toBeGreaterThan(100_000);
  process.kill(status?.pid ?? 0, "SIGKILL");
  await expect.poll(async () => (await processes.list())[0]?.running).toBe(false);
});

it("a stopped process is listed as stopped, until it goes on", async () => {
  await processes.start(sleeper);
  const pid = (await processes.list())[0]?.pid ?? 0;
  process.kill(pid, "SIGSTOP");
  await expect.poll(async () => (await processes.list())[0]).toMatchObject({ running: true, stopped: true });
  process.kill(pid, "SIGCONT");
  await expect.poll(async () => (await processes.list())[0]).not.toHaveProperty("stopped");
});

it("a process that ignores SIGTERM is killed after its grace", async () => {
  const ready = async () => (await readFile(join(stateDir, "logs/stubborn.log"), "utf8")).includes("ready");
  const script = 'trap "" TERM; echo ready; while :; do sleep 0.1; done';
  await processes.start({ name: "stubborn", command: "sh", args: ["-c", script], ready, grace: 200 });
  const [status] = await processes.list();
  await processes.stop("stubborn");
  expect(() => process.kill(status?.pid ?? 0, 0)).toThrow(/ESRCH/);
  expect(await processes.list()).toEqual([]);
});

it("a process that ends at once is reported with the end of its log", async () => {
  const start = processes.start({
    name: "broken",
    command: "sh",
    args: ["-c", "echo no such flag; exit 1"],
    ready: async () => false,
  });
  await expect(start).rejects.toThrow(/cannot start broken: it ended; .*\nno such flag/);
});

it("a process that never gets ready is reported with the reason", async () => {
  const ready = async (): Promise<boolean> => {
    throw new Error("connection refused");
  };
  await expect(processes.start({ ...sleeper, ready, readyTimeout: 100 })).rejects.toThrow(
    /not ready .*connection refused/,
  );
});

it("a later process with the same pid is not taken for the one that was noted", async () => {
  const stat = await readFile("/proc/self/stat", "utf8");
  const later = stat.replace(` ${parseStat(stat)?.startTime} `, " 1 ");
  expect(await sameProcess(`${process.pid}\n\n${stat}`)).toBe(process.pid);
  expect(await sameProcess(`${process.pid}\n\n${later}`)).toBeUndefined();
});
