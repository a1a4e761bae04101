import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createUnitProcesses, type ProcessGroup } from "./unit-process.ts";
import type { Unit } from "./unit.ts";

/** A unit that is kept running. */
export interface Service {
  /** Terminates the unit's process, after ten seconds by force; what that left running, such as containers, goes on. */
  stop(): Promise<void>;
  /** Resolves when the unit was started for the first time, or that failed; a oneshot's, when it has ended. */
  readonly started: Promise<void>;
  /** As it is now. */
  readonly state: ServiceState;
}

/** How a unit stands, in systemd's words. */
export interface ServiceState {
  readonly active: "activating" | "active" | "deactivating" | "inactive" | "failed";
  readonly sub: "start" | "running" | "exited" | "auto-restart" | "stop-sigterm" | "dead" | "failed";
  /** Its first process, while that runs. */
  readonly mainPid?: number;
  /** When it became active last, in ms of the clock of `performance.now`. */
  readonly activeSince?: number;
  /** How it ended last. */
  readonly exitCode?: number;
}

/** What a machine adds to a service. */
export interface ServiceOptions {
  /** What all processes of the unit are in; without one, only the first of them is known. */
  readonly group?: ProcessGroup;
  /** Gives up a unit that ends too often, as its StartLimitBurst= says. */
  readonly givesUp?: boolean;
}

/** Starts the unit, and again as its Restart= says, with its output appended to <logDir>/<unit>.log. */
export function runService(unit: Unit, logDir: string, { group, givesUp = false }: ServiceOptions = {}): Service {
  const log = openSync(join(logDir, `${unit.name.replace(/\.service$/, "")}.log`), "a");
  const processes = createUnitProcesses(unit, log, group);
  const whole = unit.killMode === "control-group" ? group : undefined;
  const stopping = new AbortController();
  const markStarted = Promise.withResolvers<void>();
  const limit = createStartLimit(unit.startLimit);
  let state: ServiceState = { active: "activating", sub: "start" };

  /** What was known before is known on, but for the process. */
  const become = (active: ServiceState["active"], sub: ServiceState["sub"], more: Partial<ServiceState> = {}) => {
    const { mainPid: _, ...before } = state;
    state = { ...before, ...more, active, sub };
  };
  const beActive = (sub: "running" | "exited") => {
    become("active", sub, { ...(state.mainPid && { mainPid: state.mainPid }), activeSince: performance.now() });
    markStarted.resolve();
  };
  const runOnce = async (): Promise<number> => {
    const started = (mainPid: number) => become("activating", "start", { mainPid });
    const code =
      (await processes.runAll(unit.startPre)) || (await processes.runMain(started, () => beActive("running")));
    return unit.start.mayFail ? 0 : code;
  };
  const mayRestart = (code: number): boolean => {
    if (unit.restart === "no" || (unit.restart === "on-failure" && code === 0) || stopping.signal.aborted) return false;
    if (!givesUp || !limit.isReached()) return true;
    const { burst, interval } = unit.startLimit;
    writeSync(log, `${unit.name} was started ${burst} times within ${interval / 1000} s, and is not started again\n`);
    return false;
  };
  const settle = (exitCode: number) => {
    const isWell = exitCode === 0 || stopping.signal.aborted;
    if (isWell && unit.remainAfterExit && !stopping.signal.aborted) beActive("exited");
    else become(isWell ? "inactive" : "failed", isWell ? "dead" : "failed", { exitCode });
  };
  const keepRunning = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      become("activating", "start");
      const code = await runOnce().catch((error: unknown) => {
        writeSync(log, `${String(error)}\n`);
        return 1;
      });
      if (code !== 0 || !unit.remainAfterExit) await whole?.end();
      const again = mayRestart(code);
      if (again) become("activating", "auto-restart", { exitCode: code });
      else settle(code);
      markStarted.resolve();
      if (!again) return;
      await sleep(Math.max(unit.restartDelay, 100), undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const ended = keepRunning().finally(() => closeSync(log));

  return {
    started: markStarted.promise,
    get state() {
      return state;
    },
    async stop() {
      stopping.abort();
      become("deactivating", "stop-sigterm", state.mainPid === undefined ? {} : { mainPid: state.mainPid });
      processes.signal("SIGTERM");
      await whole?.terminate();
      const timer = setTimeout(() => processes.signal("SIGKILL"), 10_000);
      await ended;
      clearTimeout(timer);
      await whole?.end();
      become("inactive", "dead");
    },
  };
}

/** Counts starts: whether there were as many within the time as there may be. */
function createStartLimit({ burst, interval }: Unit["startLimit"]) {
  let starts: readonly number[] = [];
  return {
    isReached(): boolean {
      const now = performance.now();
      starts = [...starts.filter((at) => at > now - interval), now];
      return burst > 0 && starts.length >= burst;
    },
  };
}
