import { foldersOf, UNIT_FOLDER, type WantedUnit } from "./wanted.ts";

/** What a machine was made, as far as it is known. */
export interface MachineState {
  readonly files: readonly FileState[];
  readonly units: readonly UnitState[];
  /** Folders that were made for files, and that go when they are empty. */
  readonly folders: readonly string[];
}

/** A file of the agent. */
export interface FileState {
  readonly path: string;
  readonly mode: number;
  /** Names the content: equal names, equal bytes. Without it a change was begun, and the file may be there or not. */
  readonly content?: string;
}

/** A unit of the agent. With `begun` it was to be changed, and nothing is known of what it runs with. */
export interface UnitState extends WantedUnit {
  readonly begun?: true;
}

/** One thing that is done to a machine. Each may be done again, after a kill at any moment. */
export type Step =
  | { readonly do: "write" | "remove" | "removeFolder"; readonly path: string }
  | { readonly do: "reload" }
  | { readonly do: "end" | "enable" | "disable" | "restart" | "restartIfRunning" | "stop"; readonly unit: string };

/** The state of a machine that no agent has seen. */
export const BARE: MachineState = { files: [], units: [], folders: [] };

/**
 * What has to be done, in this order, to a machine that was made `last` so that it becomes `wanted`; nothing where they are
 * equal. Files come before the units that read them, and what no unit reads any more goes when they have been restarted.
 */
export function changes(last: MachineState, wanted: MachineState): Step[] {
  const paths = new Set(wanted.files.map(({ path }) => path));
  const written = writtenPaths(last, wanted);
  const gone = last.files.map(({ path }) => path).filter((path) => !paths.has(path));
  const inTheWay = gone.filter((path) => collides(path, paths));
  const unitFiles = gone.filter((path) => isUnitFile(path) && !inTheWay.includes(path));
  const changed = changedUnits(last, wanted, new Set([...written, ...gone.filter(isUnitFile)]));
  const names = new Set(wanted.units.map(({ name }) => name));
  const removed = last.units.filter(({ name }) => !names.has(name));
  const kept = new Set(wanted.folders);
  const folders = last.folders.filter((folder) => !kept.has(folder)).toSorted(deepestFirst);
  const becomeFiles = folders.filter((folder) => [folder, ...foldersOf(folder)].some((path) => paths.has(path)));
  return [
    ...removed.filter(isOwn).map(({ name }) => ({ do: "end" as const, unit: name })),
    ...steps("remove", inTheWay),
    ...steps("removeFolder", becomeFiles),
    ...steps("write", written),
    ...steps("remove", unitFiles),
    ...([...written, ...gone].some(isUnitFile) ? [{ do: "reload" as const }] : []),
    ...changed.flatMap(enabling),
    ...removed.filter((unit) => !isOwn(unit)).map(({ name }) => ({ do: "restartIfRunning" as const, unit: name })),
    ...changed.map(({ name, runs }) => ({ do: runs ? ("restart" as const) : ("stop" as const), unit: name })),
    ...steps(
      "remove",
      gone.filter((path) => !isUnitFile(path) && !inTheWay.includes(path)),
    ),
    ...steps(
      "removeFolder",
      folders.filter((folder) => !becomeFiles.includes(folder)),
    ),
  ];
}

/**
 * What is known of a machine once these steps were begun: nothing of what they touch, but that it is the agent's. It is kept
 * before the first of them, so that after a kill, and whatever is wanted then, nothing is taken for done that may not be.
 */
export function begun(last: MachineState, wanted: MachineState, todo: readonly Step[]): MachineState {
  const paths = new Set(todo.flatMap((step) => ("path" in step ? [step.path] : [])));
  const units = new Set(todo.flatMap((step) => ("unit" in step ? [step.unit] : [])));
  const files = mergedBy(
    ({ path }) => path,
    last.files,
    wanted.files.filter(({ path }) => paths.has(path)),
  );
  const all = mergedBy(
    ({ name }) => name,
    last.units,
    wanted.units.filter(({ name }) => units.has(name)),
  );
  const before = new Map(last.units.map((unit) => [unit.name, unit]));
  return {
    files: files.map((file) => (paths.has(file.path) ? { path: file.path, mode: file.mode } : file)),
    units: all.map((unit) => (units.has(unit.name) ? begunUnit(unit, before.get(unit.name)) : unit)),
    folders: [...new Set([...last.folders, ...wanted.folders])],
  };
}

/** Whichever of both texts is there, its paths are the unit's own. */
function begunUnit(unit: UnitState, before: UnitState | undefined): UnitState {
  return { ...unit, begun: true, ownPaths: [...new Set([...(before?.ownPaths ?? []), ...unit.ownPaths])].toSorted() };
}

function mergedBy<Each>(keyOf: (each: Each) => string, before: readonly Each[], after: readonly Each[]): Each[] {
  return [...new Map([...before, ...after].map((each) => [keyOf(each), each])).values()];
}

function writtenPaths(last: MachineState, wanted: MachineState): string[] {
  const before = new Map(last.files.map((file) => [file.path, file]));
  const differs = ({ path, mode, content }: FileState) => {
    const old = before.get(path);
    return old?.content === undefined || old.content !== content || old.mode !== mode;
  };
  return wanted.files.filter(differs).map(({ path }) => path);
}

/**
 * The units that others need, in the order in which they start: kubelets do without containerd badly, and without the kernel's
 * settings not at all.
 */
const FIRST: readonly string[] = ["containerd.service", "systemd-sysctl.service"];

/** Whether no other unit starts until this one has. */
export const startsAlone = (unit: string): boolean => FIRST.includes(unit);

function changedUnits(last: MachineState, wanted: MachineState, touched: ReadonlySet<string>): readonly UnitState[] {
  const before = new Map(last.units.map((unit) => [unit.name, unit]));
  const changed = wanted.units.filter((unit) => {
    const old = before.get(unit.name);
    if (old === undefined || old.begun === true || !sameUnit(old, unit)) return true;
    return [...unit.ownPaths, ...unit.filePaths, ...old.ownPaths].some((path) => touched.has(path));
  });
  const first = FIRST.flatMap((unit) => changed.filter(({ name }) => name === unit));
  return [...first, ...changed.filter(({ name }) => !startsAlone(name))];
}

function sameUnit(one: UnitState, other: UnitState): boolean {
  const settings = ({ name, runs, enable, ownPaths, filePaths }: UnitState) =>
    JSON.stringify([name, runs, enable, ownPaths, filePaths]);
  return settings(one) === settings(other);
}

function enabling({ name, enable }: UnitState): Step[] {
  if (enable === undefined) return [];
  return [{ do: enable ? "enable" : "disable", unit: name }];
}

/** Whether the agent has brought the unit, rather than only touched one of the machine. */
const isOwn = ({ name, ownPaths }: UnitState): boolean => ownPaths.includes(`${UNIT_FOLDER}/${name}`);

const isUnitFile = (path: string): boolean => path.startsWith(`${UNIT_FOLDER}/`);

/** A file has become a folder, or a folder a file. */
function collides(gone: string, paths: ReadonlySet<string>): boolean {
  return foldersOf(gone).some((folder) => paths.has(folder)) || [...paths].some((path) => path.startsWith(`${gone}/`));
}

const steps = (act: "write" | "remove" | "removeFolder", paths: readonly string[]): Step[] =>
  paths.map((path) => ({ do: act, path }));

const deepestFirst = (one: string, other: string): number => other.length - one.length;
