import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { begun, changes, type FileState, type MachineState, type Step } from "./changes.ts";
import { noteKubeletSettings } from "./kubelet-state.ts";
import { keepOriginals } from "./originals.ts";
import { perform, reasonOf, type Content, type Following, type Machine, type ReadyFile } from "./perform.ts";
import { keepRecord, readRecord, RECORD_PATH } from "./record.ts";
import { foldersOf, wantedOf, type MachineConfig, type Wanted, type WantedFile } from "./wanted.ts";
import { isFile } from "./whole-file.ts";

/** A machine that is made what it is to be. */
export interface AppliedMachine extends Machine {
  readonly hostName: string;
  /** The bytes of a Secret's key; throws when it is not there. */
  readSecret(name: string, dataKey: string): Promise<Buffer>;
}

/** What was done: nothing of all this where the machine was as wanted. */
export interface Applied {
  readonly written: readonly string[];
  readonly removed: readonly string[];
  readonly restarted: readonly string[];
  readonly stopped: readonly string[];
  /** The machine's `ownUnit` has changed: end, and systemd starts it anew. */
  readonly restartDue: boolean;
}

/**
 * Makes the machine what the OperatingSystemConfig says, and keeps what it was made. Only what differs is done. A kill at any
 * moment is made good by the next call, with the same configuration or another. Throws before anything is changed where the
 * configuration or a Secret cannot be used; where units fail, after all others were started, naming each; the next call
 * starts them again.
 */
export async function applyMachine(
  machine: AppliedMachine,
  config: MachineConfig,
  following: Following = {},
): Promise<Applied> {
  const { root } = machine;
  const wanted = wantedOf(config, machine.hostName);
  const files = await Promise.all(wanted.files.map((file) => readyFile(file, machine.readSecret)));
  const record = join(root, RECORD_PATH);
  const last = await observed(root, await readRecord(record));
  const next = stateOf(root, last, wanted, files);
  const todo = changes(last, next);
  const applied = summary(todo, machine.ownUnit);
  if (todo.length > 0) {
    const known = new Set(last.files.map(({ path }) => path));
    const taken = todo.flatMap((step) => (step.do === "write" && !known.has(step.path) ? [step.path] : []));
    await keepOriginals(root, taken);
    await noteKubeletSettings(root);
    await keepRecord(record, begun(last, next, todo));
    const faults = await perform(machine, todo, new Map(files.map((file) => [file.path, file])), following);
    const failed = new Set(faults.keys());
    // Where others have failed, the next call tells again that the program of its own unit is another one now.
    if (failed.size > 0 && applied.restartDue && machine.ownUnit !== undefined) failed.add(machine.ownUnit);
    await keepRecord(record, withBegun(next, failed));
    if (faults.size > 0) throw new Error([...faults.values()].join("; "));
  }
  return applied;
}

async function readyFile(
  { path, mode, source }: WantedFile,
  readSecret: AppliedMachine["readSecret"],
): Promise<ReadyFile> {
  if (!("secretRef" in source)) return { path, mode, content: source };
  const { name, dataKey } = source.secretRef;
  try {
    return { path, mode, content: { bytes: await readSecret(name, dataKey) } };
  } catch (error) {
    const problem = `key ${dataKey} of Secret ${name} was not read: ${reasonOf(error)}`;
    throw new Error(`cannot write file ${path}: ${problem}`, { cause: error });
  }
}

/** A file that is there no longer is one of which nothing is known. */
async function observed(root: string, last: MachineState): Promise<MachineState> {
  const files = last.files.map(async (file): Promise<FileState> => {
    return (await isFile(join(root, file.path))) ? file : { path: file.path, mode: file.mode };
  });
  return { ...last, files: await Promise.all(files) };
}

function stateOf(root: string, last: MachineState, { units }: Wanted, files: readonly ReadyFile[]): MachineState {
  const ours = new Set(last.folders);
  const folders = [...new Set(files.flatMap(({ path }) => foldersOf(path)))];
  return {
    files: files.map(({ path, mode, content }) => ({ path, mode, content: nameOf(content) })),
    units,
    folders: folders.filter((folder) => ours.has(folder) || !isFolder(join(root, folder))),
  };
}

function nameOf(content: Content): string {
  if ("imageRef" in content) return `image:${content.imageRef.image} ${content.imageRef.filePathInImage}`;
  return `sha256:${createHash("sha256").update(content.bytes).digest("hex")}`;
}

/** A file may have to become a folder; then one of its folders is not there. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function withBegun(state: MachineState, failed: ReadonlySet<string>): MachineState {
  return { ...state, units: state.units.map((unit) => (failed.has(unit.name) ? { ...unit, begun: true } : unit)) };
}

function summary(todo: readonly Step[], ownUnit: string | undefined): Applied {
  const paths = (act: Step["do"]) => todo.flatMap((step) => ("path" in step && step.do === act ? [step.path] : []));
  const units = (...acts: Step["do"][]) =>
    todo.flatMap((step) => ("unit" in step && acts.includes(step.do) ? [step.unit] : []));
  const others = (names: readonly string[]) => names.filter((name) => name !== ownUnit);
  const restarted = units("restart", "restartIfRunning");
  return {
    written: paths("write"),
    removed: paths("remove"),
    restarted: others(restarted),
    stopped: others(units("stop", "end")),
    restartDue: ownUnit !== undefined && restarted.includes(ownUnit),
  };
}
