import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import type { Flow } from "../../src/flow/flow.ts";
import type { BareMachines } from "../../src/local/bare/machines.ts";
import type { ExecResult } from "../../src/local/bare/exec.ts";

/** What ends gardenadm: a signal that it cannot catch, or the machine's power. */
export type Interruption = "SIGKILL" | "power cut";

/** A row of a table of gardenadm's. */
export interface Row {
  /** The table's title. */
  readonly flow: string;
  readonly step: string;
}

/** The rows of a table that a run with these facts has, in its order. */
export const rowsOf = <Subject, Action>({ title, steps }: Flow<Subject, Action>, facts: Subject): Row[] =>
  [...steps]
    .filter(([, { when = [] }]) => when.every(({ holds }) => holds(facts)))
    .map(([step]) => ({ flow: title, step }));

/** A command on a machine, and where it is to be ended. */
export interface Interrupted {
  /** The machine's files, as the host sees them. */
  readonly root: string;
  /** Begins the command. */
  running(): Promise<ExecResult>;
  readonly row: Row;
  readonly by: Interruption;
}

/** What became of a command: it was ended in its row; it had ended well before it could be; it has ended well without that row. */
export type Outcome = "interrupted" | "too late" | "without the row";

/** Ends a command of gardenadm, or its machine, as soon as the journal says that the row is running; a machine is on again then. */
export async function interrupt(
  machines: BareMachines,
  name: string,
  { root, running, row, by }: Interrupted,
): Promise<Outcome> {
  const { command, isReached } = await runUntil({ root, running, row });
  if (isReached && by === "power cut") await machines.cutPower(name);
  else if (isReached) await machines.exec(name, ["pkill", "--signal", "KILL", "--full", COMMANDS]);
  const { code, stderr } = await command;
  if (isReached && by === "power cut") await machines.on(name);
  if (!isReached) expect(code, `gardenadm has ended before ${row.step} of "${row.flow}": ${stderr}`).toBe(0);
  if (!isReached) return "without the row";
  return code === 0 ? "too late" : "interrupted";
}

/** Runs a command to its end, and does the work as soon as the journal says that the row is running. */
export async function meanwhile(followed: Omit<Interrupted, "by">, work: () => Promise<void>): Promise<ExecResult> {
  const { row } = followed;
  const { command, isReached } = await runUntil(followed);
  if (!isReached) expect.fail(`gardenadm has ended before ${row.step} of "${row.flow}": ${(await command).stderr}`);
  await work();
  return await command;
}

/** Begins the command, and returns when the journal says that the row is running, or the command has ended without it. */
async function runUntil({ root, running, row }: Omit<Interrupted, "by">) {
  const journal = join(root, JOURNAL);
  const before = (await textOf(journal)).lastIndexOf("\n") + 1;
  const command = running();
  return { command, isReached: await reaches(journal, before, row, command) };
}

/** In bytes; 0 where there is none. */
const sizeOf = async (file: string): Promise<number> =>
  await stat(file).then(
    ({ size }) => size,
    () => 0,
  );

const textOf = async (file: string): Promise<string> => await readFile(file, "utf8").catch(() => "");

const JOURNAL = "/var/lib/gardenadm/journal";

/** Those that an operator gives; the machine's agent, which is the same program, goes on. */
const COMMANDS = String.raw`gardenadm/main\.[jt]s (init|join|reset|restore)`;

async function reaches(journal: string, before: number, { flow, step }: Row, command: Promise<unknown>) {
  let over = false;
  const end = command.finally(() => (over = true));
  const said = `"flow":"${flow}","step":"${step}","state":"running"`;
  for (let seen = before; !over;) {
    const size = await sizeOf(journal);
    if (size > seen && (await textOf(journal)).slice(before).includes(said)) return true;
    seen = size;
    await Promise.race([end, delay(5)]);
  }
  return false;
}
