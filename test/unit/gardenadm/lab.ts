import { Readable } from "node:stream";
import { runProgram } from "../../../src/cli/program.ts";
import { createContext } from "../../../src/gardenadm/connection.ts";
import { gardenadm } from "../../../src/gardenadm/gardenadm.ts";
import { fakeTerminal } from "../cli/fake-terminal.ts";

/** What one command line of gardenadm has come to. */
export interface Outcome {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line of gardenadm as a process would, with these variables and this standard input. */
export async function runGardenadm(
  argv: readonly string[],
  {
    variables = {},
    input = "",
  }: { readonly variables?: Readonly<Record<string, string>>; readonly input?: string } = {},
): Promise<Outcome> {
  const terminal = fakeTerminal();
  const { context, close } = createContext({
    terminal,
    variables,
    signal: new AbortController().signal,
    input: Readable.from([Buffer.from(input)]),
  });
  const exit = await runProgram(argv, gardenadm, context);
  await close();
  return { exit, out: terminal.out.text(), err: terminal.err.text() };
}
