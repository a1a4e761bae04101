import { join } from "node:path";
import { startsAlone, type Step } from "./changes.ts";
import { CommandError, type Run } from "./commands.ts";
import { extractFile } from "./image-file.ts";
import { forgetKubeletState, KUBELET } from "./kubelet-state.ts";
import { UNIT_FOLDER, type Source } from "./wanted.ts";
import { isFile, removeEmptyFolder, removeFile, writeWhole } from "./whole-file.ts";

/** A machine, as far as it is changed. */
export interface Machine {
  /** The folder that is the machine's `/`. */
  readonly root: string;
  readonly systemctl: Run;
  readonly ctr: Run;
  /** The unit in which this process runs, which it cannot restart without being killed. */
  readonly ownUnit?: string;
}

/** How the work is followed and stopped; it can be stopped between any two things that are done. */
export interface Following {
  readonly signal?: AbortSignal;
  readonly tell?: (message: string) => void;
}

/** A file that can be written now. */
export interface ReadyFile {
  readonly path: string;
  readonly mode: number;
  readonly content: Content;
}

/** A content that is here, or that containerd gets. */
export type Content = Exclude<Source, { readonly secretRef: unknown }>;

/**
 * Does the steps one after another; units start together, once those run that others need. Gives the units that failed, each with a
 * sentence; any other failure is thrown, and leaves what comes after it undone.
 */
export async function perform(
  machine: Machine,
  todo: readonly Step[],
  files: ReadonlyMap<string, ReadyFile>,
  { signal, tell = () => {} }: Following,
): Promise<ReadonlyMap<string, string>> {
  const faults = new Map<string, string>();
  const enabling = createEnabling(machine, todo, signal);
  const starting = createStarting(machine, todo, { signal, tell });
  const does = async (step: Step) => await (starting(step, faults) ?? performStep(machine, step, files, signal));
  for (const step of todo) {
    signal?.throwIfAborted();
    if ("unit" in step && faults.has(step.unit)) continue;
    if (endsThisProcess(step, machine) || (await enabling(step))) continue;
    tell(sentenceOf(step));
    try {
      await does(step);
    } catch (error) {
      signal?.throwIfAborted();
      const problem = problemOf(step, error);
      if (!("unit" in step) || step.do === "end") throw new Error(problem, { cause: error });
      faults.set(step.unit, problem);
    }
  }
  return faults;
}

/**
 * Whether the step was done with all others that enable a unit: each call has systemd read all its units. Where it fails for one of
 * several, each by itself says which that is.
 */
function createEnabling({ systemctl }: Machine, todo: readonly Step[], signal: AbortSignal | undefined) {
  const units = todo.flatMap((step) => (step.do === "enable" ? [step.unit] : []));
  let enabled = units.length > 1 ? undefined : false;
  return async (step: Step): Promise<boolean> => {
    if (step.do !== "enable") return false;
    enabled ??= await systemctl(["enable", ...units], signal).then(
      () => true,
      () => false,
    );
    return enabled;
  };
}

/** Begins all units that do not start alone when the first of them is to, but those that have failed before; gives the end of a step's own. */
function createStarting(machine: Machine, todo: readonly Step[], { signal, tell }: Followed) {
  const units = todo.flatMap((step) =>
    step.do === "restart" && !startsAlone(step.unit) && !endsThisProcess(step, machine) ? [step.unit] : [],
  );
  const forget = () =>
    forgetKubeletState(machine.root, {
      stop: () => unlessUnknown(machine.systemctl(["stop", KUBELET], signal)),
      tell,
    });
  const begin = (unit: string): Promise<string> => {
    const restart = () => machine.systemctl(["restart", unit], signal);
    const job = unit === KUBELET ? forget().then(restart) : restart();
    job.catch(() => {}); // it is looked at when its step comes
    return job;
  };
  let jobs: ReadonlyMap<string, Promise<string>> | undefined;
  return (step: Step, failed: ReadonlyMap<string, unknown>): Promise<string> | undefined => {
    if (step.do !== "restart" || startsAlone(step.unit)) return undefined;
    jobs ??= new Map(units.filter((unit) => !failed.has(unit)).map((unit) => [unit, begin(unit)]));
    return jobs.get(step.unit);
  };
}

interface Followed {
  readonly signal: AbortSignal | undefined;
  readonly tell: (message: string) => void;
}

/** What an error says, without its stack. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function endsThisProcess(step: Step, { ownUnit }: Machine): boolean {
  return "unit" in step && step.unit === ownUnit && step.do !== "enable" && step.do !== "disable" && step.do !== "end";
}

async function performStep(
  machine: Machine,
  step: Step,
  files: ReadonlyMap<string, ReadyFile>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { root, systemctl } = machine;
  switch (step.do) {
    case "write":
      return await write(machine, files.get(step.path), signal);
    case "remove":
      return await removeFile(join(root, step.path));
    case "removeFolder":
      return await removeEmptyFolder(join(root, step.path));
    case "reload":
      await systemctl(["daemon-reload"], signal);
      return;
    case "end":
      return await end(machine, step.unit, signal);
    case "restartIfRunning":
      return await unlessUnknown(systemctl(["try-restart", step.unit], signal));
    case "stop":
      return await unlessUnknown(systemctl(["stop", step.unit], signal));
    case "enable":
    case "disable":
    case "restart":
      await systemctl([step.do, step.unit], signal);
  }
}

async function write(
  { root, ctr }: Machine,
  file: ReadyFile | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (file === undefined) throw new Error("its content was not read");
  const { mode, content } = file;
  const path = join(root, file.path);
  if ("bytes" in content) return await writeWhole(path, content.bytes, mode);
  const mount = join(root, "/var/lib/gardener-node-agent/tmp/image");
  await extractFile(ctr, content.imageRef, { path, mode, mount }, signal);
}

/** A unit's text goes only after it was disabled; where it is gone, there is nothing to disable. */
async function end({ root, systemctl, ownUnit }: Machine, unit: string, signal?: AbortSignal): Promise<void> {
  if (await isFile(join(root, UNIT_FOLDER, unit))) await systemctl(["disable", unit], signal);
  if (unit !== ownUnit) await unlessUnknown(systemctl(["stop", unit], signal));
}

/** Exit code 5 of systemctl: there is no such unit. */
async function unlessUnknown(running: Promise<string>): Promise<void> {
  try {
    await running;
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode !== 5) throw error;
  }
}

function sentenceOf(step: Step): string {
  if (step.do === "reload") return "make systemd read its units";
  return "path" in step ? `${verbs[step.do]} ${step.path}` : `${verbs[step.do]} unit ${step.unit}`;
}

const verbs: Readonly<Record<Exclude<Step["do"], "reload">, string>> = {
  write: "write",
  remove: "remove",
  removeFolder: "remove folder",
  end: "disable and stop",
  enable: "enable",
  disable: "disable",
  restart: "restart",
  restartIfRunning: "restart",
  stop: "stop",
};

function problemOf(step: Step, error: unknown): string {
  const log = "unit" in step ? `see "journalctl --unit ${step.unit}", ` : "";
  return `cannot ${sentenceOf(step)}: ${reasonOf(error)}; ${log}mend that and do the same once more`;
}
