import { watchFile, unwatchFile } from "node:fs";
import { runService, type Service, type ServiceState } from "../machine/service.ts";
import { parseUnit } from "../machine/unit.ts";
import { activeUntil } from "./active.ts";
import { mayStart } from "./conditions.ts";
import { unitGroup } from "./group.ts";
import { inOrder } from "./order.ts";
import { LOGS } from "./places.ts";
import { runTimer } from "./timer.ts";
import { enablementOf, findUnit, fullName, wantedAtBoot, type UnitFile } from "./unit-files.ts";

/** The units of a machine that run, or ran. */
export interface Manager {
  /** Starts units with those that they want, each after those that it comes after; throws the sentences of those that failed. */
  start(names: readonly string[]): Promise<void>;
  /** Ends units, with those that require them; throws which there are not. */
  stop(names: readonly string[]): Promise<void>;
  /** Ends units that run, and starts them all, with those that have ended because they require them. */
  restart(names: readonly string[]): Promise<void>;
  /** Starts what a boot starts; what fails is to be seen by its state. */
  boot(): Promise<void>;
  /** Ends all, those first that come after others. */
  shutDown(): Promise<void>;
  /** How the unit stands; dead where it was never started. */
  stateOf(name: string): ServiceState;
  /** Forgets failures: of this unit, or of all. */
  forget(name?: string): void;
  /** Units that are up or have failed, sorted. */
  known(): string[];
}

/** A unit that cannot be started or stopped, with the exit code of `systemctl`: 5 for one that there is not. */
export class UnitError extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode = 1) {
    super(message);
    this.name = "UnitError";
    this.exitCode = exitCode;
  }
}

const DEAD: ServiceState = { active: "inactive", sub: "dead" };

/** The manager of the machine in which this process runs. */
export function createManager(): Manager {
  const running = new Map<string, Service>();
  const stateOf = (name: string): ServiceState => running.get(name)?.state ?? DEAD;
  const begin = async (unit: UnitFile): Promise<Service> => {
    const old = running.get(unit.name);
    if (old !== undefined && isUp(old.state)) return old;
    if (old?.state.sub === "auto-restart") await old.stop();
    const begun = await beginUnit(unit, async (name) => await start([name]));
    // While its group was made, it may have been started by another.
    const now = running.get(unit.name);
    if (now !== undefined && now !== old) return now;
    const made = begun();
    running.set(unit.name, made);
    return made;
  };
  const start = async (names: readonly string[], besides: readonly string[] = []): Promise<void> => {
    const asked = names.map(requireUnit);
    const others = besides.flatMap((name) => findUnit(name) ?? []);
    const faults = new Map<string, string>();
    await inOrder(withWanted([...asked, ...others]), async (unit) => {
      const lacking = unit.settings.words("Requires").find((other) => faults.has(fullName(other)));
      if (lacking !== undefined) return void faults.set(unit.name, `Dependency failed for ${unit.name}: ${lacking}.`);
      if (!isUp(stateOf(unit.name)) && !mayStart(unit.settings)) return;
      try {
        const begun = await begin(unit);
        await begun.started;
        if (begun.state.active === "failed" || begun.state.sub === "auto-restart")
          faults.set(unit.name, `Job for ${unit.name} failed. See "journalctl --unit ${unit.name}" for details.`);
      } catch (error) {
        faults.set(unit.name, error instanceof Error ? error.message : String(error));
      }
    });
    const counting = asked.flatMap(({ name }) => faults.get(name) ?? []);
    if (counting.length > 0) throw new UnitError(counting.join("\n"));
  };
  /** Those that are active and require one of these, which are among them. */
  const withRequiring = (names: readonly string[]): string[] => {
    const requiring = [...running.keys()].filter((name) => {
      const required = findUnit(name)?.settings.words("Requires").map(fullName) ?? [];
      return !names.includes(name) && isUp(stateOf(name)) && required.some((other) => names.includes(other));
    });
    return requiring.length === 0 ? [...names] : withRequiring([...names, ...requiring]);
  };
  const stop = async (asked: readonly string[]): Promise<string[]> => {
    const missing = asked.find((name) => findUnit(name) === undefined && !running.has(name));
    if (missing !== undefined) throw new UnitError(`Failed to stop ${missing}: Unit ${missing} not loaded.`, 5);
    const names = withRequiring(asked.map((name) => findUnit(name)?.name ?? name));
    await Promise.all(names.map(async (name) => await running.get(name)?.stop()));
    return names;
  };
  return {
    start: async (names) => await start(names),
    stateOf,
    async stop(names) {
      await stop(names);
    },
    async restart(names) {
      names.forEach(requireUnit);
      await start(names, await stop(names));
    },
    async boot() {
      const wanted = wantedAtBoot().filter((name) => findUnit(name) !== undefined);
      await start(wanted).catch(() => undefined);
    },
    async shutDown() {
      const units = [...running.keys()].flatMap((name) => findUnit(name) ?? []);
      await inOrder(units, async ({ name }) => await running.get(name)?.stop(), "backward");
    },
    forget(name) {
      for (const [each, { state }] of running)
        if (state.active === "failed" && (name === undefined || each === name)) running.delete(each);
    },
    known: () => [...running.keys()].filter((name) => stateOf(name).active !== "inactive").toSorted(),
  };
}

const isUp = ({ active, sub }: ServiceState): boolean =>
  active === "active" || (active === "activating" && sub !== "auto-restart");

function requireUnit(name: string): UnitFile {
  const unit = findUnit(name);
  if (enablementOf(name) === "masked") throw new UnitError(`Failed to start ${name}: Unit ${name} is masked.`);
  if (unit === undefined) throw new UnitError(`Failed to start ${name}: Unit ${name} not found.`, 5);
  return unit;
}

/** The units with all that they want, as far as there are such. */
function withWanted(units: readonly UnitFile[]): UnitFile[] {
  const all = new Map<string, UnitFile>();
  const add = (unit: UnitFile): void => {
    if (all.has(unit.name)) return;
    all.set(unit.name, unit);
    for (const name of [...unit.settings.words("Wants"), ...unit.settings.words("Requires")]) {
      const other = findUnit(fullName(name));
      if (other !== undefined) add(other);
    }
  };
  units.forEach(add);
  return [...all.values()];
}

/** What begins the unit; throws for what the runner does not know how to run. */
async function beginUnit(unit: UnitFile, start: (name: string) => Promise<void>): Promise<() => Service> {
  const { name, settings } = unit;
  const [, kind = ""] = /\.([a-z]+)$/.exec(name) ?? [];
  const other = settings.last("Unit") ?? name.replace(/\.[a-z]+$/, ".service");
  const startOther = () => void start(other).catch(() => undefined);
  if (kind === "service") {
    const parsed = parseUnit(name, unit.parts.map(({ text }) => text).join("\n"));
    const type = settings.last("Type") ?? "simple";
    if (!["simple", "exec", "oneshot"].includes(type))
      throw new UnitError(`cannot start ${name}: Type=${type} is not known to this machine's runner`);
    const group = await unitGroup(name);
    return () => runService(parsed, LOGS, { group, givesUp: true });
  }
  if (kind === "timer") return () => runTimer(name, settings, startOther);
  if (kind === "path") return () => watchPath(name, settings, startOther);
  throw new UnitError(`cannot start ${name}: the runner of this machine knows services, timers and paths only`);
}

/** Starts the other unit when the file changes. */
function watchPath(name: string, settings: UnitFile["settings"], changed: () => void): Service {
  const paths = settings.words("PathChanged");
  if (paths.length === 0) throw new UnitError(`cannot start ${name}: this machine's runner knows PathChanged= only`);
  for (const path of paths) watchFile(path, { interval: 1000 }, changed);
  return activeUntil(() => paths.forEach((path) => void unwatchFile(path, changed)));
}
