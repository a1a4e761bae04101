import { constants } from "node:os";
import type { Readable } from "node:stream";
import { execa } from "execa";

/** What a command in a machine is given; without it, its standard input is empty. */
export interface ExecOptions {
  readonly stdin?: string | Uint8Array | Readable;
}

/** How a command in a machine ended, and what it wrote, each without its last line break. */
export interface ExecResult {
  /** Its exit code; 128 and the signal's number where a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in the machine of this name. */
export type Exec = (name: string, command: readonly string[], options?: ExecOptions) => Promise<ExecResult>;

/** Runs a command line of the host to its end; throws only where it cannot be started. */
export async function execute(
  [program, ...args]: readonly [string, ...string[]],
  { stdin }: ExecOptions,
): Promise<ExecResult> {
  const given = stdin === undefined ? ({ stdin: "ignore" } as const) : { input: stdin };
  const result = await execa(program, args, { ...given, reject: false });
  return { code: codeOf(result), stdout: result.stdout, stderr: result.stderr };
}

/** Runs a command line of the host on the terminal or the pipes of this process, and answers how it ended. */
export async function attach([program, ...args]: readonly [string, ...string[]]): Promise<number> {
  return codeOf(await execa(program, args, { stdio: "inherit", reject: false }));
}

/** Runs a command that has to succeed; throws with the machine, the command and what it said. */
export async function mustExec(
  exec: Exec,
  name: string,
  command: readonly string[],
  options?: ExecOptions,
): Promise<string> {
  const { code, stdout, stderr } = await exec(name, command, options);
  if (code !== 0) throw new Error(`cannot run ${command[0]} in machine ${name}: exit code ${code}: ${stderr.trim()}`);
  return stdout;
}

interface End {
  readonly exitCode?: number | undefined;
  readonly signal?: NodeJS.Signals | undefined;
  readonly cause?: unknown;
}

function codeOf({ exitCode, signal, cause }: End): number {
  if (exitCode !== undefined) return exitCode;
  if (signal !== undefined) return 128 + constants.signals[signal];
  throw cause;
}
