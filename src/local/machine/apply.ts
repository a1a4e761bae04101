import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
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
   * Writes the files, starts the units named and stops all others, and those with command stop; a unit that runs already is
   * restarted only if it or one of its `filePaths` changed. Throws, before anything is written, if a unit cannot be read or
   * a program is not there.
   */
  apply(userData: UserData): Promise<void>;
  /** Starts a unit of the machine's image, which user data does not name. */
  start(name: string, content: string): Promise<void>;
}

/** A supervisor that keeps the units' text, and the programs that it has put in place, in `stateDir`. */
export function createSupervisor(stateDir: string, logDir: string, facts: MachineFacts): Supervisor {
  const stateFile = join(stateDir, "units.json");
  const programFile = join(stateDir, "programs.json");
  const provisioned = existsSync(stateFile);
  const units = new Map<string, string>(provisioned ? readState(stateFile) : []);
  const programs = new Map<string, string>(existsSync(programFile) ? readState(programFile) : []);
  const services = new Map<string, Service>();
  const running = new Map<string, string>();
  const textOf = ({ name, content }: UserDataUnit): string | undefined =>
    content === undefined ? units.get(name) : fillIn(content, facts);

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

  const keep = async ({ name, filePaths = [] }: UserDataUnit, text: string, changed: ReadonlySet<string>) => {
    const same = running.get(name) === text && !filePaths.some((path) => changed.has(path));
    units.set(name, text);
    save();
    if (!same) await start(name, text);
  };

  return {
    provisioned,
    start,
    async resume() {
      // The image has put other versions there.
      for (const [path, program] of programs) linkProgram(path, program);
      for (const [name, content] of units) await start(name, content);
    },
    async apply(userData) {
      const linked = userData.files.filter((file) => "program" in file);
      for (const unit of userData.units) checkUnit(unit, textOf(unit));
      for (const { program } of linked) checkProgram(program);
      const changed = new Set(userData.files.filter((file) => writeUserFile(file, facts)).map(({ path }) => path));
      for (const { path, program } of linked) programs.set(path, program);
      replaceFile(programFile, Buffer.from(JSON.stringify([...programs])), 0o600);
      const named = new Set(userData.units.map(({ name }) => name));
      for (const name of [...units.keys()].filter((each) => !named.has(each))) await stop(name);
      for (const unit of userData.units) {
        const text = unit.command === "stop" ? undefined : textOf(unit);
        if (text === undefined) await stop(unit.name);
        else await keep(unit, text, changed);
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

function checkProgram(program: string): void {
  if (!existsSync(program)) throw new Error(`cannot use ${program}: the machine's image does not have it`);
}

function readState(file: string): [string, string][] {
  return JSON.parse(readFileSync(file, "utf8")) as [string, string][];
}

/** Whether the file was not there as it should be. */
function writeUserFile(file: UserDataFile, facts: MachineFacts): boolean {
  if ("program" in file) return linkProgram(file.path, file.program);
  const content = fileContent(file, facts);
  const mode = file.permissions ?? 0o644;
  if (existsSync(file.path) && readFileSync(file.path).equals(content)) {
    if ((statSync(file.path).mode & 0o7777) !== mode) chmodSync(file.path, mode);
    return false;
  }
  replaceFile(file.path, content, mode);
  return true;
}

/** Whether the path did not lead to the program before, wherever both of them are links to. */
function linkProgram(path: string, program: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() && readlinkSync(path) === program) return false;
  mkdirSync(dirname(path), { recursive: true });
  rmSync(`${path}.new`, { force: true });
  symlinkSync(program, `${path}.new`);
  renameSync(`${path}.new`, path);
  return true;
}

function replaceFile(path: string, content: Buffer, mode: number): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, content, { mode: 0o600 });
  chmodSync(`${path}.new`, mode);
  renameSync(`${path}.new`, path);
}
