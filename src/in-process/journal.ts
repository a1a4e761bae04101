import { appendFile, mkdir, open, readFile, truncate } from "node:fs/promises";
import { dirname } from "node:path";
import type { StepState } from "../flow/flow.ts";
import { parseJson } from "../parsing.ts";

/** One change of a step. */
export interface JournalEntry {
  /** RFC 3339. */
  readonly time: string;
  /** The same for all entries of one run. */
  readonly run: string;
  /** The title of the flow. */
  readonly flow: string;
  /** The command line by which the run goes on, without secrets; absent in lines of before there were any. */
  readonly command?: string;
  readonly step: string;
  readonly state: StepState | "retrying" | "parked";
  readonly attempt?: number;
  /** What was wrong, in a sentence without secrets. */
  readonly message?: string;
  /** Gardener's, of what was wrong. */
  readonly codes?: readonly string[];
}

/** What was begun on this machine, and how it ended: a line of JSON for each change, for root only. */
export interface Journal {
  /** Resolves when the line is on the disk. Lines are written one after another. */
  append(entry: JournalEntry): Promise<void>;
}

/** Opens the journal in this file, making it where it is missing; a line that was cut off by a crash is taken away. */
export async function openJournal(file: string): Promise<Journal> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await appendFile(file, "", { mode: 0o600 });
  const text = await readFile(file);
  const whole = text.lastIndexOf(NEWLINE) + 1;
  if (whole < text.length) await truncate(file, whole);
  let last = Promise.resolve();
  return {
    append(entry) {
      const written = last.then(async () => appendDurably(file, `${JSON.stringify(entry)}\n`));
      last = written.catch(() => {});
      return written;
    },
  };
}

/** The whole entries of a journal, the oldest first; none where there is no file. A line that was cut off is none. */
export async function readJournal(file: string): Promise<JournalEntry[]> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  });
  const lines = text.split("\n").slice(0, -1);
  return lines.map((line, index) => parseJson(line, `line ${index + 1} of ${file}`) as JournalEntry);
}

const NEWLINE = 0x0a;

/** Of a line that does not fit on the disk, nothing stays: the next one would go on with it. */
async function appendDurably(file: string, line: string): Promise<void> {
  const handle = await open(file, "a", 0o600);
  try {
    const { size } = await handle.stat();
    await handle.writeFile(line).catch(async (cause: unknown) => {
      await handle.truncate(size);
      throw new Error(`cannot write ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    });
    await handle.datasync();
  } finally {
    await handle.close();
  }
}
