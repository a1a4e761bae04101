import { stripVTControlCharacters, styleText } from "node:util";
import type { Output } from "./terminal.ts";
import { formats, type Tone } from "./tones.ts";

/** The text in the tone where the output shows colours, else the text itself. */
export function paint(output: Output, tone: Tone, text: string): string {
  return output.colour ? styleText(formats[tone], text, { validateStream: false }) : text;
}

/** The columns that a text takes on the screen, colours not counted. */
export function visibleLength(text: string): number {
  return [...stripVTControlCharacters(text)].length;
}

/** The text cut to so many columns, its end marked; a text with colours loses them when it has to be cut. */
export function fit(text: string, columns: number): string {
  if (visibleLength(text) <= columns) return text;
  return `${[...stripVTControlCharacters(text)].slice(0, Math.max(0, columns - 1)).join("")}…`;
}
