import { access, appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { StepError } from "../../src/activities/step-error.ts";
import type { ErrorCode } from "../../src/api/error-codes.ts";

/** What a step fails with, for as long as it is told to. */
export interface ToldFailure {
  readonly message: string;
  readonly codes: readonly ErrorCode[];
}

/** A begin or an end of a step's work, in ms since 1970. */
export interface WorldEvent {
  readonly at: number;
  readonly what: "begun" | "made";
  readonly step: string;
}

/** A folder that is the world of one run: what outlives whichever process acts on it. */
export interface EngineWorld {
  readonly folder: string;
  /** The step fails from now on, or does no longer. */
  fail(step: string, failure: ToldFailure | undefined): Promise<void>;
  /** The step begins and does not end from now on, or does. */
  hold(step: string, isHeld: boolean): Promise<void>;
  /** What a step waits for is there. */
  tell(step: string): Promise<void>;
  events(): Promise<WorldEvent[]>;
  remove(): Promise<void>;
}

/** Makes the world of one run. */
export async function createEngineWorld(): Promise<EngineWorld> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-engine-"));
  for (const each of ["fail", "hold", "made", "told"]) await mkdir(join(folder, each));
  const set = async (file: string, text: string | undefined) =>
    text === undefined ? await rm(join(folder, file), { force: true }) : await writeFile(join(folder, file), text);
  return {
    folder,
    fail: async (step, failure) => await set(`fail/${step}`, failure && JSON.stringify(failure)),
    hold: async (step, isHeld) => await set(`hold/${step}`, isHeld ? "" : undefined),
    tell: async (step) => await set(`told/${step}`, ""),
    async events() {
      const text = await readFile(join(folder, "events"), "utf8").catch(() => "");
      return text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as WorldEvent);
    },
    remove: async () => await rm(folder, { recursive: true }),
  };
}

/** Does a step's work, which is a write: it looks first, and is not given up in the middle. */
export async function actInWorld(folder: string, step: string): Promise<void> {
  await note(folder, "begun", step);
  if (await isThere(join(folder, "made", step))) return;
  for (;;) {
    const told = await readFile(join(folder, "fail", step), "utf8").catch(() => undefined);
    if (told !== undefined) {
      const { message, codes } = JSON.parse(told) as ToldFailure;
      throw new StepError(message, codes);
    }
    if (!(await isThere(join(folder, "hold", step)))) break;
    await delay(20);
  }
  await note(folder, "made", step);
  await writeFile(join(folder, "made", step), "", { flag: "wx" });
}

/** Whether what the step waits for is there. */
export const isToldIn = async (folder: string, step: string): Promise<boolean> =>
  await isThere(join(folder, "told", step));

async function note(folder: string, what: WorldEvent["what"], step: string): Promise<void> {
  await appendFile(join(folder, "events"), `${JSON.stringify({ at: Date.now(), what, step } satisfies WorldEvent)}\n`);
}

const isThere = async (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );
