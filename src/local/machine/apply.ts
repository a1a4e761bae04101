import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { runService, type Service } from "./service.ts";
import { parseUnit } from "./unit.ts";
import {
  fileContent,
  fillIn,
  type MachineFacts,
  type UserData,
  type UserDataFile,
  type UserDataUnit,
} from "./user-data.ts";

/** What runs in a machine and where that is kept, so that a reboot brings it back. */
export interface Supervisor {
  /** True once user data was applied: at every boot but the first. */
  readonly provisioned: boolean;
  /** Starts what was running before a reboot. */
  resume(): Promise<void>;
  /**
   * Writes the files, then starts the units named, or stops those with command stop; a unit that runs already is restarted
   * only if it or one of its `filePaths` changed. Units not named are left alone. Throws, before anything is written, if a unit cannot be read.
   */
  apply(userData: UserData): Promise<void>;
  /** Starts a unit of the machine's image, which user data does not name. */
  start(name: string, content: string): Promise<void>;
}

/** A supervisor that keeps the units' text in `stateDir`. */
export function createSupervisor(stateDir: string, logDir: string, facts: MachineFacts): Supervisor {
  const stateFile = join(stateDir, "units.json");
  const provisioned = existsSync(stateFile);
  const units = new Map<string, string>(provisioned ? readState(stateFile) : []);
  const imageUnits = new Map<string, string>();
  const services = new Map<string, Service>();
  const running = new Map<string, string>();
  const textOf = ({ name, content }: UserDataUnit): string | undefined =>
    content === undefined ? (units.get(name) ?? imageUnits.get(name)) : fillIn(content, facts);

  const start = async (name: string, content: string): Promise<void> => {
    await services.get(name)?.stop();
    const service = runService(parseUnit(name, content), logDir);
    services.set(name, service);
    running.set(name, content);
    await service.started;
  };
  const stop = async (name: string): Promise<void> => {
    await services.get(name)?.stop();
    services.delete(name);
    running.delete(name);
    units.delete(name);
  };
  const save = () => replaceFile(stateFile, Buffer.from(JSON.stringify([...units])), 0o600);

  return {
    provisioned,
    async start(name, content) {
      imageUnits.set(name, content);
      await start(name, content);
    },
    async resume() {
      for (const [name, content] of units) await start(name, content);
    },
    async apply(userData) {
      for (const unit of userData.units) checkUnit(unit, textOf(unit));
      const changed = new Set(userData.files.filter((file) => writeUserFile(file, facts)).map(({ path }) => path));
      for (const unit of userData.units) {
        const { name, command, filePaths = [] } = unit;
        const text = textOf(unit);
        if (command === "stop" || text === undefined) {
          await stop(name);
          continue;
        }
        const same = running.get(name) === text && !filePaths.some((path) => changed.has(path));
        units.set(name, text);
        save();
        if (!same) await start(name, text);
      }
      save();
    },
  };
}

function checkUnit({ name, command }: UserDataUnit, text: string | undefined): void {
  if (command === "stop") return;
  if (text === undefined) throw new Error(`cannot start unit ${name}: it has no content`);
  parseUnit(name, text);
}

function readState(file: string): [string, string][] {
  return JSON.parse(readFileSync(file, "utf8")) as [string, string][];
}

/** Whether the file was not there as it should be. */
function writeUserFile(file: UserDataFile, facts: MachineFacts): boolean {
  const content = fileContent(file, facts);
  const mode = file.permissions ?? 0o644;
  if (existsSync(file.path) && readFileSync(file.path).equals(content)) {
    if ((statSync(file.path).mode & 0o7777) !== mode) chmodSync(file.path, mode);
    return false;
  }
  replaceFile(file.path, content, mode);
  return true;
}

function replaceFile(path: string, content: Buffer, mode: number): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, content, { mode: 0o600 });
  chmodSync(`${path}.new`, mode);
  renameSync(`${path}.new`, path);
}
