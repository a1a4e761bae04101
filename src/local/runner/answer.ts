import { enable, disable, enablementOf, findUnit, fullName, mask, unmask } from "./unit-files.ts";
import { endSlice } from "./group.ts";
import { listUnitFiles, listUnits } from "./listing.ts";
import { UnitError, type Manager } from "./manager.ts";
import { describeUnit, show } from "./properties.ts";
import { readWords, type Asked, type Flags } from "./words.ts";

/** What a command ends with. */
export interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A machine's units, and whether its boot has ended. */
export interface World {
  readonly manager: Manager;
  readonly booted: { readonly done: Promise<void>; readonly isDone: boolean };
}

/** Does what `systemctl` is told by these words, and answers as it would; what the runner does not know fails with a sentence. */
export async function answer(world: World, words: readonly string[]): Promise<Answer> {
  try {
    const asked = readWords(words);
    const { verb, names, flags } = asked;
    const does = verbs[verb];
    if (does === undefined) throw new UnitError(`this machine's runner does not know 'systemctl ${verb}'`);
    const said = await does(world, { ...asked, names: verb.startsWith("list-") ? names : names.map(fullName) });
    const { code = 0, stdout = "" } = typeof said === "string" ? { stdout: said } : (said ?? {});
    return { code, stdout: flags.quiet === true && verb.startsWith("is-") ? "" : stdout, stderr: "" };
  } catch (error) {
    const sentence = error instanceof Error ? error.message : String(error);
    return { code: error instanceof UnitError ? error.exitCode : 1, stdout: "", stderr: `${sentence}\n` };
  }
}

type Said = string | Partial<Answer> | void;
type Verb = (world: World, asked: Asked) => Said | Promise<Said>;

const verbs: Readonly<Record<string, Verb>> = {
  // Units are read whenever they are started.
  "daemon-reload": () => {},
  start: async ({ manager }, { names, flags }) => await unlessNotWaited(manager.start(names), flags),
  async stop({ manager }, { names, flags }) {
    const slices = names.filter((name) => name.endsWith(".slice"));
    await Promise.all(slices.map(endSlice));
    await unlessNotWaited(manager.stop(names.filter((name) => !slices.includes(name))), flags);
  },
  restart: async ({ manager }, { names, flags }) => await unlessNotWaited(manager.restart(names), flags),
  async "try-restart"({ manager }, { names, flags }) {
    const up = names.filter((name) => manager.stateOf(name).active !== "inactive");
    await unlessNotWaited(manager.restart(up), flags);
  },
  async enable({ manager }, { names, flags }) {
    names.forEach(enable);
    if (flags.now === true) await manager.start(names);
  },
  async disable({ manager }, { names, flags }) {
    names.forEach(disable);
    if (flags.now === true) await manager.stop(names);
  },
  async mask({ manager }, { names, flags }) {
    names.forEach(mask);
    if (flags.now === true)
      await Promise.all(names.map(async (name) => await manager.stop([name]).catch(() => undefined)));
  },
  unmask: (_, { names }) => names.forEach(unmask),
  "is-enabled": (_, { names }) => verdict(names, (name) => enablementOf(name) ?? "not-found", ["enabled", "static"]),
  "is-active": ({ manager }, { names }) => verdict(names, (name) => activeOf(manager, name), ["active"], 3),
  "is-failed": ({ manager }, { names }) => verdict(names, (name) => activeOf(manager, name), ["failed"]),
  async "is-system-running"({ manager, booted }, { flags }) {
    if (flags.wait === true) await booted.done;
    const hasFailed = manager.known().some((name) => manager.stateOf(name).active === "failed");
    const end = hasFailed ? "degraded" : "running";
    const state = booted.isDone ? end : "starting";
    return { code: state === "running" ? 0 : 1, stdout: `${state}\n` };
  },
  "reset-failed": ({ manager }, { names }) => {
    if (names.length === 0) manager.forget();
    for (const name of names) manager.forget(name);
  },
  "list-units": ({ manager }, { names, flags }) => listUnits(manager, names, flags),
  "list-unit-files": (_, { names, flags }) => listUnitFiles(names, flags),
  show: ({ manager }, { names, flags }) => show(manager, names, flags),
  status: ({ manager }, { names }) => {
    const shown = names.length > 0 ? names : manager.known();
    const isUp = shown.every((name) => manager.stateOf(name).active === "active");
    return {
      code: names.length === 0 || isUp ? 0 : 3,
      stdout: shown.map((name) => describeUnit(manager, name)).join("\n"),
    };
  },
  cat: (_, { names }) => names.map(textOf).join("\n"),
};

const activeOf = (manager: Manager, name: string): string => manager.stateOf(findUnit(name)?.name ?? name).active;

/** With --no-block, what comes of it is to be seen by the unit's state. */
async function unlessNotWaited(work: Promise<void>, flags: Flags): Promise<void> {
  if (flags["no-block"] === true) return void work.catch(() => undefined);
  await work;
}

/** A word for each unit; the exit code is 0 if one of them is good. */
function verdict(names: readonly string[], say: (name: string) => string, good: readonly string[], bad = 1): Said {
  const words = names.map(say);
  return {
    code: words.some((word) => good.includes(word)) ? 0 : bad,
    stdout: words.map((word) => `${word}\n`).join(""),
  };
}

function textOf(name: string): string {
  const unit = findUnit(name);
  if (unit === undefined) throw new UnitError(`No files found for ${name}.`);
  return unit.parts.map(({ path, text }) => `# ${path}\n${text}`).join("\n");
}
