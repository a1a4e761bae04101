import type { BaseContext } from "./base-context.ts";
import { processTerminal } from "./display/terminal.ts";
import { exitCodes } from "./exit.ts";
import { runProgram, type Program } from "./program.ts";

/** A context, and how everything that its verbs have opened is closed. */
export interface OpenContext<C extends BaseContext> {
  readonly context: C;
  close(): Promise<void>;
}

/**
 * Runs the command line of this process, and sets its exit code. The first Ctrl-C asks the verb to end and to say how to
 * go on; the second ends the process.
 */
export async function runProcess<C extends BaseContext>(
  program: Program<C>,
  open: (process: Pick<BaseContext, "terminal" | "signal">) => OpenContext<C>,
): Promise<void> {
  const interruption = new AbortController();
  process.on("SIGINT", () => {
    if (interruption.signal.aborted) process.exit(exitCodes.interrupted);
    interruption.abort();
  });
  process.on("SIGTERM", () => interruption.abort());
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(exitCodes.done); // the reader of the pipe has had enough
    throw error;
  });
  const { context, close } = open({ terminal: processTerminal(), signal: interruption.signal });
  process.exitCode = await runProgram(process.argv.slice(2), program, context);
  await close();
}
