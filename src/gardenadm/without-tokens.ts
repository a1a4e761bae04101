import type { Output } from "../cli/display/terminal.ts";

/** The same stream, on which the secret of a bootstrap token is never seen. */
export function hideTokens(output: Output): Output {
  return {
    live: output.live,
    colour: output.colour,
    get width() {
      return output.width;
    },
    get height() {
      return output.height;
    },
    write: (text, linesAbove) => output.write(withoutTokens(text), linesAbove),
  };
}

function withoutTokens(text: string): string {
  return text.replaceAll(/(?<![a-z0-9])([a-z0-9]{6})\.[a-z0-9]{16}(?![a-z0-9])/g, "$1.****************");
}
