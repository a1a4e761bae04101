import { fit, visibleLength } from "./style.ts";
import { wrap } from "./wrap.ts";

/** One column of a table; a wide one is shown with `-o wide` only. */
export interface Column<T> {
  readonly title: string;
  readonly wide?: boolean;
  /** In a narrow window the column of the highest rank goes first; one without a rank stays. */
  readonly rank?: number;
  value(row: T): string | number | undefined;
}

/**
 * The table with its header line, columns three spaces apart, empty cells as `<none>`. What does not fit into the width
 * gives way: first columns by their rank, then the ends of the longest cells. Prose in the last column is wrapped.
 */
export function renderTable<T>(rows: readonly T[], columns: readonly Column<T>[], width = Infinity): string {
  const all = columns.map((column) => createCells(column, rows));
  const shown = shorten(drop(all, width), width);
  const widths = shown.map(widthOf);
  const hang = sum(widths.slice(0, -1)) + GAP * (widths.length - 1);
  const rest = width === Infinity ? undefined : width - hang;
  return [undefined, ...rows]
    .map((_, line) => {
      const padded = shown.slice(0, -1).map(({ texts }, index) => pad(texts[line] ?? "", (widths[index] ?? 0) + GAP));
      const last = wrap(shown.at(-1)?.texts[line] ?? "", rest).replaceAll("\n", `\n${" ".repeat(hang)}`);
      return `${padded.join("")}${last}\n`;
    })
    .join("");
}

/** Columns between two columns. */
const GAP = 3;

/** In columns: so much room is left for prose, or for what is left of a cell that is shortened. */
const NARROWEST = { prose: 20, cell: 8 };

/** A column's texts, its title first. */
interface Cells {
  readonly rank: number;
  readonly texts: readonly string[];
}

function createCells<T>({ title, rank = 0, value }: Column<T>, rows: readonly T[]): Cells {
  return { rank, texts: [title, ...rows.map((row) => textOf(value(row)))] };
}

function textOf(value: string | number | undefined): string {
  return value === undefined || value === "" ? "<none>" : String(value);
}

/** Without as many columns as have a rank and no room. */
function drop(all: readonly Cells[], width: number): readonly Cells[] {
  const rank = Math.max(...all.map((cells) => cells.rank));
  if (rank === 0 || needed(all) <= width) return all;
  return drop(
    all.filter((cells) => cells.rank !== rank),
    width,
  );
}

/** The longest column that is not at its narrowest, a character shorter, until there is room for all. */
function shorten(all: readonly Cells[], width: number): readonly Cells[] {
  const longest = Math.max(...all.slice(0, -1).map(widthOf));
  if (needed(all) <= width || longest <= NARROWEST.cell) return all;
  const index = all.findIndex((cells) => widthOf(cells) === longest);
  const texts = all[index]?.texts.map((text) => fit(text, longest - 1)) ?? [];
  return shorten(all.with(index, { rank: 0, texts }), width);
}

/** The width that the columns take; what can be wrapped at the end takes what is left. */
function needed(all: readonly Cells[]): number {
  const last = all.at(-1);
  return sum(all.slice(0, -1).map(widthOf)) + GAP * (all.length - 1) + (last === undefined ? 0 : leastOf(last));
}

/** Prose is wrapped between its words, a list without blanks behind its commas. */
function leastOf({ rank, texts }: Cells): number {
  if (texts.some((text) => text.includes(" "))) return Math.min(widthOf({ rank, texts }), NARROWEST.prose);
  return widthOf({ rank, texts: texts.flatMap((text) => text.split(/(?<=,)/)) });
}

const widthOf = ({ texts }: Cells): number => Math.max(...texts.map(visibleLength));

const pad = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - visibleLength(text)));

const sum = (numbers: readonly number[]): number => numbers.reduce((before, one) => before + one, 0);
