import { CliError } from "../exit.ts";
import { withoutCommands } from "./tones.ts";

/** Where the CLI writes and what it may assume about it; tests pass their own. */
export interface Terminal {
  /** Results: what a pipe wants. */
  readonly out: Output;
  /** Progress, questions and errors: what a person wants. */
  readonly err: Output;
  /** Asks on the terminal and answers what was typed; undefined without an interactive terminal. */
  readonly ask?: (question: string) => Promise<string>;
}

/** One stream: a live one may be redrawn and coloured, any other gets plain lines. */
export interface Output {
  readonly live: boolean;
  /** Columns of a live stream, undefined for any other. */
  readonly width?: number | undefined;
  /** Rows of a live stream, undefined for any other. */
  readonly height?: number | undefined;
  readonly colour: boolean;
  /** Writes the text, on a live stream in the place of so many lines above. */
  write(text: string, linesAbove?: number): void;
}

/** The terminal of this process; NO_COLOR and TERM=dumb are respected. */
export function processTerminal(): Terminal {
  const ask = process.stdin.isTTY && process.stderr.isTTY ? askOnTerminal : undefined;
  return { out: createOutput(process.stdout), err: createOutput(process.stderr), ...(ask && { ask }) };
}

/**
 * Creates an output over a stream, which reads the window's size whenever it is asked for. What seeds, extensions and users wrote may
 * hold commands to a terminal, which erase lines, forge others or fill the clipboard: of a text, only its tones reach the stream.
 */
export function createOutput(stream: Stream): Output {
  const live = stream.isTTY === true && process.env.TERM !== "dumb";
  return {
    live,
    colour: live && !process.env.NO_COLOR,
    get width() {
      return live ? stream.columns : undefined;
    },
    get height() {
      return live ? stream.rows : undefined;
    },
    write: (text, linesAbove = 0) =>
      void stream.write(`${linesAbove === 0 ? "" : eraseAbove(linesAbove)}${withoutCommands(text)}`),
  };
}

/** What an output takes of a stream. */
type Stream = Pick<NodeJS.WriteStream, "columns" | "rows" | "write"> & { readonly isTTY?: boolean };

/** The control sequence that goes up so many lines and erases what is there and below. */
export const eraseAbove = (lines: number): string => `\u001B[${lines}A\u001B[0J`;

const askOnTerminal = (question: string): Promise<string> => askOn(process.stdin, process.stderr, question);

/** Asks on two streams of one terminal. Throws `interrupted` when the answer is Ctrl-C or Ctrl-D. */
export async function askOn(
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
  question: string,
): Promise<string> {
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input, output, terminal: true });
  try {
    return await lines.question(question);
  } catch (error) {
    if (!(error instanceof Error && error.name === "AbortError")) throw error;
    output.write("\n");
    throw new CliError("interrupted", "interrupted: nothing was changed", { cause: error });
  } finally {
    lines.close();
  }
}
