import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MACHINE_NAMESPACE_LABEL, MACHINE_SEED_LABEL } from "../../../src/api/labels.ts";
import { deriveEnvironment } from "../../../src/local/environment/environment.ts";
import type { MachineStatus } from "../../../src/local/machine/machine.ts";
import { createProcesses, type Processes } from "../../../src/local/process/processes.ts";
import { superviseMachines } from "../../../src/local/supervisor/machines.ts";
import { supervise, supervisorName } from "../../../src/local/supervisor/supervisor.ts";
import { createLogger } from "../../../src/log.ts";

// Real processes, which sleep.

let stateDir: string;
let processes: Processes;
let supervisor: Running | undefined;
const log = createLogger({ name: "test", level: "silent" });
const sleeper = { name: "sleeper", command: "sleep", args: ["600"], env: { SAID: "once" } };
const quick = { look: 20, first: 50, most: 10_000, calm: 60_000 };

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "perennial-supervisor-"));
  processes = createProcesses({ stateDir }, log);
});

afterEach(async () => {
  await supervisor?.end();
  supervisor = undefined;
  for (const { name } of await processes.list()) await processes.stop(name);
  await rm(stateDir, { recursive: true });
});

test("a process that dies is started again by the supervisor as it was, and the restart is counted", async () => {
  await processes.start(sleeper);
  supervisor = await begin();
  const first = await kill("sleeper");
  await expect.poll(async () => await find("sleeper")).toMatchObject({ running: true, restarts: 1 });
  const { pid } = await find("sleeper");
  expect(pid).not.toBe(first);
  expect(await readFile(`/proc/${pid}/environ`, "utf8")).toContain("SAID=once");
  expect(await processes.start(sleeper)).toBe("running"); // for `up`, it is what it was
});

test("a process that dies again and again is started after longer pauses", async () => {
  const lines = join(stateDir, "lines");
  const script = `date +%s%3N >> ${lines}; [ $(wc -l < ${lines}) -gt 1 ] || exec sleep 100; sleep 0.05`; // once it is started again
  await processes.start({ name: "short", command: "sh", args: ["-c", script] });
  supervisor = await begin();
  const times = async () => (await readFile(lines, "utf8").catch(() => "")).split("\n").filter(Boolean).map(Number);
  await expect.poll(async () => (await times()).length).toBe(1);
  await kill("short");
  await expect.poll(async () => (await times()).length, { timeout: 10_000 }).toBeGreaterThan(5);
  const [, a = 0, b = 0, , d = 0, e = 0] = await times();
  expect(b - a).toBeGreaterThanOrEqual(50);
  expect(e - d).toBeGreaterThanOrEqual(400);
});

test("what was ended on purpose stays ended, and what a signal has stopped is left alone by the supervisor", async () => {
  await processes.start(sleeper);
  await processes.start({ ...sleeper, name: "paused", grace: 50 });
  await processes.start({ ...sleeper, name: "witness" });
  supervisor = await begin();
  const { pid } = await find("paused");
  expect(pid).toBeGreaterThan(1);
  process.kill(Number(pid), "SIGSTOP");
  await processes.stop("sleeper");
  await kill("witness");
  await expect.poll(async () => await find("witness")).toMatchObject({ running: true, restarts: 1 });
  expect(await find("paused")).toMatchObject({ pid, stopped: true, restarts: 0 });
  expect((await processes.list()).map(({ name }) => name)).not.toContain("sleeper");
});

test("of a client that starts a process and a supervisor that starts it again, one comes first, and no process is lost", async () => {
  const marked = { ...sleeper, args: [String(6_000 + (process.pid % 1_000))] };
  await processes.start(marked);
  for (let round = 0; round < 5; round++) {
    await kill("sleeper");
    await Promise.all([
      processes.start(marked),
      processes.revive("sleeper"),
      createProcesses({ stateDir }, log).revive("sleeper"),
    ]);
    expect(await count(marked.args[0] ?? "")).toBe(1);
  }
  await kill("sleeper");
  await Promise.all([processes.stop("sleeper"), processes.revive("sleeper")]);
  expect(await processes.list()).toEqual([]);
  await expect.poll(async () => await count(marked.args[0] ?? "")).toBe(0);
});

test("a process that an earlier version noted is not started again by the supervisor, and can be replaced and ended", async () => {
  const note = join(stateDir, "processes/sleeper.json");
  await processes.start(sleeper);
  await writeFile(note, JSON.stringify({ fingerprint: "f", startedAt: new Date().toISOString(), grace: 50 }));
  const { pid } = await find("sleeper");
  expect(await processes.start(sleeper)).toBe("started");
  expect((await find("sleeper")).pid).not.toBe(pid);
  await writeFile(note, JSON.stringify({ fingerprint: "f", startedAt: new Date().toISOString(), grace: 50 }));
  await kill("sleeper");
  expect(await processes.revive("sleeper")).toBe(false);
  await processes.stop("sleeper");
  expect(await processes.list()).toEqual([]);
});

test("the supervisor's own process does the same, and leaves nothing half done when it is killed at any moment", async () => {
  const main = fileURLToPath(new URL("../../../src/local/supervisor/main.ts", import.meta.url));
  const marked = { ...sleeper, args: [String(7_000 + (process.pid % 1_000))] };
  const own = { name: supervisorName, command: process.execPath, args: [main, "tried", stateDir] };
  await writeFile(join(stateDir, "environment.json"), JSON.stringify(deriveEnvironment("tried", stateDir)));
  await processes.start(marked);
  for (const lead of [950, 1_100]) {
    await processes.start(own);
    if ((await find("sleeper")).running) await kill("sleeper");
    await delay(lead); // about when it starts the sleeper again
    await kill(supervisorName);
    expect(await count(marked.args[0] ?? "")).toBeLessThanOrEqual(1);
  }
  await processes.start(own);
  await expect.poll(async () => (await find("sleeper")).running, { timeout: 10_000 }).toBe(true);
  expect(await count(marked.args[0] ?? "")).toBe(1);
  await processes.stop(supervisorName);
  await processes.stop("sleeper");
  expect(await count(marked.args[0] ?? "")).toBe(0);
});

test("a seed's machine that went down is booted by the supervisor, at the next look if it fails; a Shoot's is left alone", async () => {
  const known = { providerID: "", address: "", createdAt: "" };
  const machine = (name: string, running: boolean, label: string): MachineStatus => ({
    ...{ ...known, name, running, labels: { [label]: "x" } },
  });
  const stopping = new AbortController();
  const tried: string[] = [];
  const machines = {
    list: async () => [
      machine("up", true, MACHINE_SEED_LABEL),
      machine("seed-1", false, MACHINE_SEED_LABEL),
      machine("shoot-1", false, MACHINE_NAMESPACE_LABEL),
    ],
    async revive(name: string) {
      tried.push(name);
      if (tried.length === 2) stopping.abort();
      throw new Error("no space left on device");
    },
  };
  await superviseMachines({ machines, log, signal: stopping.signal, look: 5 });
  expect(tried).toEqual(["seed-1", "seed-1"]);
});

test("a supervisor that the environment does not know any more ends by itself", async () => {
  supervisor = await begin();
  await processes.stop(supervisorName);
  await supervisor.ended;
});

interface Running {
  readonly ended: Promise<void>;
  end(): Promise<void>;
}

/** The environment takes a process that sleeps for the supervisor, which is this one. */
async function begin(): Promise<Running> {
  await processes.start({ ...sleeper, name: supervisorName });
  const { pid = 0 } = await find(supervisorName);
  const stopping = new AbortController();
  const ended = supervise({ pid, processes, log, signal: stopping.signal, pace: quick });
  return {
    ended,
    async end() {
      stopping.abort();
      await ended;
    },
  };
}

async function find(name: string) {
  const found = (await processes.list()).find((one) => one.name === name);
  if (found === undefined) throw new Error(`${name} is not known`);
  return found;
}

/** SIGKILL, and waits for the end. */
async function kill(name: string): Promise<number> {
  const { pid } = await find(name);
  if (pid === undefined) throw new Error(`${name} does not run`);
  process.kill(pid, "SIGKILL");
  await expect.poll(() => isThere(pid), { interval: 5 }).toBe(false);
  return pid;
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** How many processes sleep for so many seconds. */
async function count(seconds: string): Promise<number> {
  const child = spawn("pgrep", ["--full", "--count", "--exact", `sleep ${seconds}`]);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => void (output += chunk.toString()));
  await new Promise((resolve) => child.once("close", resolve));
  return Number(output);
}
