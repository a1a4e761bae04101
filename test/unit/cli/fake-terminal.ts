import { eraseAbove, type Output, type Terminal } from "../../../src/cli/display/terminal.ts";

/** An output that keeps what was written to it. */
export interface FakeOutput extends Output {
  readonly text: () => string;
}

/** A stream that keeps its text; live ones have the size of a small window. */
export function fakeOutput(
  shape: { readonly live?: boolean; readonly width?: number; readonly height?: number } = {},
): FakeOutput {
  const { live = false, width, height } = shape;
  const written: string[] = [];
  return {
    live,
    colour: false,
    width: live ? (width ?? 80) : undefined,
    height: live ? (height ?? 24) : undefined,
    write: (text, linesAbove = 0) => void written.push(linesAbove === 0 ? text : eraseAbove(linesAbove) + text),
    text: () => written.join(""),
  };
}

/** A terminal whose two streams keep their text; without an answer nobody can be asked. */
export function fakeTerminal(answer?: string): Terminal & { readonly out: FakeOutput; readonly err: FakeOutput } {
  const terminal = { out: fakeOutput(), err: fakeOutput() };
  return answer === undefined ? terminal : { ...terminal, ask: async () => answer };
}

/** What a live terminal shows in the end: the lines that were not erased again. */
export function screen(text: string): string[] {
  const lines: string[] = [];
  for (const part of text.split(/(?=\u001B\[\d+A\u001B\[0J)/)) {
    const move = /^\u001B\[(\d+)A\u001B\[0J/.exec(part);
    if (move) lines.splice(lines.length - Number(move[1]));
    lines.push(
      ...part
        .slice(move?.[0].length ?? 0)
        .split("\n")
        .slice(0, -1),
    );
  }
  return lines;
}
