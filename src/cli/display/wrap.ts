import { visibleLength } from "./style.ts";

/**
 * The text broken between words, or behind commas in longer ones, into lines of so many columns; lines but the first begin
 * with `hang` spaces. Without a width, or with hardly any room, it stays as it is. A command at the end of a sentence stays
 * in one line with its quotes, even in one that is too long: a shell would run the halves one after the other.
 */
export function wrap(text: string, width: number | undefined, hang = 0): string {
  const room = (width ?? Infinity) - hang;
  if (width === undefined || room < NARROWEST || visibleLength(text) <= width) return text;
  const margin = " ".repeat(hang);
  const lines: string[] = [];
  let line = "";
  for (const word of wordsOf(text, room)) {
    const columns = lines.length === 0 ? width : room;
    if (line !== "" && visibleLength((line + word).trimEnd()) > columns) {
      lines.push(line.trimEnd());
      line = "";
    }
    line += word;
  }
  return [...lines, line.trimEnd()].join(`\n${margin}`);
}

/** In columns: what is narrower than this is left to the terminal. */
const NARROWEST = 20;

/** Each with the space behind it. */
function wordsOf(text: string, room: number): string[] {
  const command = /'?(?:perennial [a-z]+ |kill -)[^;:]+$|kubectl .+$/.exec(text)?.[0] ?? "";
  const words = text.slice(0, text.length - command.length).match(/^ +|\S+ *|\n/g) ?? [];
  return [...words.flatMap((word) => (word.length > room ? word.split(/(?<=,)/) : [word])), command];
}
