/**
 * Runs in a bare machine without a systemd, as the child of its PID 1: starts what boots start, and whatever `systemctl` is told.
 * Ends all of it by SIGTERM, and then itself. Imports only Node's own modules, as every machine has one of these in memory.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createManager } from "./manager.ts";
import { LOGS, MACHINE_UNITS } from "./places.ts";
import { serve } from "./serve.ts";
import { enable, enablementOf } from "./unit-files.ts";

if (import.meta.main) await main();

async function main(): Promise<void> {
  const manager = createManager();
  process.once("SIGTERM", () => void end());
  async function end() {
    await manager.shutDown();
    await endOthers();
    process.exit(0);
  }
  // By this folder programs know an init system that they can speak to by `systemctl`.
  for (const folder of [LOGS, "/run/systemd/system"]) mkdirSync(folder, { recursive: true });
  if (readFileSync("/etc/machine-id", "utf8").trim() === "") beginFirstBoot();
  setInterval(() => cutLogs(), 60_000);
  const done = Promise.withResolvers<void>();
  const booted = { done: done.promise, isDone: false };
  await serve({ manager, booted });
  await manager.boot();
  booted.isDone = true;
  done.resolve();
}

/** As systemd does: the machine gets its id, and its own units are enabled. */
function beginFirstBoot(): void {
  for (const name of readdirSync(MACHINE_UNITS)) if (enablementOf(name) === "disabled") enable(name);
  writeFileSync("/etc/machine-id", `${randomBytes(16).toString("hex")}\n`);
}

/** What runs that is no unit is asked to end, and has ten seconds for it. */
async function endOthers(): Promise<void> {
  signalAll("SIGTERM");
  for (const deadline = Date.now() + 10_000; Date.now() < deadline && hasOthers();) await sleep(50);
  signalAll("SIGKILL");
}

function signalAll(signal: NodeJS.Signals): void {
  try {
    process.kill(-1, signal);
  } catch {
    // There is no other process.
  }
}

/** Kernel threads of a machine are not seen in it; PID 1 waits for this process. */
const hasOthers = (): boolean =>
  readdirSync("/proc").some((name) => /^\d+$/.test(name) && name !== "1" && Number(name) !== process.pid);

/** Units append to their logs, so a log can be emptied while it is written. */
function cutLogs(): void {
  for (const name of readdirSync(LOGS)) {
    const path = join(LOGS, name);
    if (statSync(path).size > 20_000_000) truncateSync(path);
  }
}
