import { copyFile, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { Flow } from "../../src/flow/flow.ts";
import type { BareMachines } from "../../src/local/bare/machines.ts";
import type { ExecResult } from "../../src/local/bare/exec.ts";
import type { HoldInRow } from "./hold-in-row.ts";

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

/** A command on a machine, and the row in which something is to happen. */
export interface Followed {
  /** The machine's files, as the host sees them. */
  readonly root: string;
  /** Begins the command, with these variables in its environment. */
  running(variables: Readonly<Record<string, string>>): Promise<ExecResult>;
  readonly row: Row;
}

/** What became of a command: it was ended in its row, or it has ended well without that row. */
export type Outcome = "interrupted" | "without the row";

/** How often commands were ended, by the way and the table. */
const kills = new Map<string, number>();

/** Tells how often commands were ended since this was asked last, and in which tables. */
export function tellKills(): void {
  for (const [where, times] of kills) process.stderr.write(`figure: ${where}: ${times} times\n`);
  kills.clear();
}

/**
 * Ends a command of gardenadm, or its machine, within a row: while the row is at work, or, where it is over before that, before the
 * journal says so. A machine is on again then.
 */
export async function interrupt(
  machines: BareMachines,
  name: string,
  { root, running, row, by }: Followed & { readonly by: Interruption },
): Promise<Outcome> {
  await rm(join(root, MARK), { force: true });
  await copyFile(fileURLToPath(new URL("hold-in-row.ts", import.meta.url)), join(root, HOLDER));
  const hold: HoldInRow = { ...row, after: AT_WORK, mark: MARK };
  const command = running({ NODE_OPTIONS: `--import=${HOLDER}`, HOLD_IN_ROW: JSON.stringify(hold) });
  const isHeld = await unlessEnded(command, async () => (await sizeOf(join(root, MARK))) !== undefined);
  if (isHeld && by === "power cut") await machines.cutPower(name);
  else if (isHeld) await machines.exec(name, ["pkill", "--signal", "KILL", "--full", COMMANDS]);
  const { code, stderr } = await command;
  if (isHeld && by === "power cut") await machines.on(name);
  if (!isHeld) expect(code, `gardenadm has ended before ${row.step} of "${row.flow}": ${stderr}`).toBe(0);
  if (!isHeld) return "without the row";
  const where = `${by} in "${row.flow}"`;
  kills.set(where, (kills.get(where) ?? 0) + 1);
  return "interrupted";
}

/** In ms: what a row has done of its work when its command is ended. */
const AT_WORK = 100;

const HOLDER = "/root/hold-in-row.ts";
const MARK = "/root/held-in-row";

/** Runs a command to its end, and does the work as soon as the journal says that the row is running. */
export async function meanwhile({ root, running, row }: Followed, work: () => Promise<void>): Promise<ExecResult> {
  const journal = join(root, JOURNAL);
  const before = (await textOf(journal)).lastIndexOf("\n") + 1;
  const said = `"flow":"${row.flow}","step":"${row.step}","state":"running"`;
  let seen = before;
  const command = running({});
  const isReached = await unlessEnded(command, async () => {
    const size = (await sizeOf(journal)) ?? 0;
    if (size <= seen) return false;
    seen = size;
    return (await textOf(journal)).slice(before).includes(said);
  });
  if (!isReached) expect.fail(`gardenadm has ended before ${row.step} of "${row.flow}": ${(await command).stderr}`);
  await work();
  return await command;
}

/** In bytes; undefined where there is none. */
const sizeOf = async (file: string): Promise<number | undefined> =>
  await stat(file).then(
    ({ size }) => size,
    () => undefined,
  );

const textOf = async (file: string): Promise<string> => await readFile(file, "utf8").catch(() => "");

const JOURNAL = "/var/lib/gardenadm/journal";

/** Those that an operator gives; the machine's agent, which is the same program, goes on. */
const COMMANDS = String.raw`gardenadm/main\.[jt]s (init|join|reset|restore)`;

/** Returns true once it is so, and false when the command has ended before. */
async function unlessEnded(command: Promise<unknown>, isSo: () => Promise<boolean>): Promise<boolean> {
  let over = false;
  const end = command.finally(() => (over = true));
  while (!over) {
    if (await isSo()) return true;
    await Promise.race([end, delay(5)]);
  }
  return await isSo();
}
