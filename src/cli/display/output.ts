import { stringify } from "yaml";
import { choice } from "../option.ts";
import { visibleLength } from "./style.ts";
import type { Output } from "./terminal.ts";
import { wrap } from "./wrap.ts";

/** The `-o` option of every verb that prints objects. */
export const outputOption = choice(["json", "yaml", "wide", "name"], "Output", "o");

/** What `-o` may say; undefined is the table. */
export type Format = "json" | "yaml" | "wide" | "name" | undefined;

/** One column of a table; a wide one is shown with `-o wide` only. */
export interface Column<T> {
  readonly title: string;
  readonly wide?: boolean;
  value(row: T): string | number | undefined;
}

/** How a list of rows is shown: by which columns, and what `-o name` says of a row. */
export interface Listing<T> {
  readonly format: Format;
  readonly columns: readonly Column<T>[];
  name(row: T): string;
}

/** Prints the rows as kubectl would: a table, or the objects themselves as JSON or YAML. */
export function printList<T>(out: Output, rows: readonly T[], { format, columns, name }: Listing<T>): void {
  if (format === "json" || format === "yaml") printObject(out, { apiVersion: "v1", kind: "List", items: rows }, format);
  else if (format === "name") out.write(rows.map((row) => `${name(row)}\n`).join(""));
  else out.write(renderTable(rows, format === "wide" ? columns : columns.filter((column) => !column.wide)));
}

/** Prints one object as JSON or YAML, without its managed fields. */
export function printObject(out: Output, object: unknown, format: "json" | "yaml"): void {
  const plain: unknown = JSON.parse(
    JSON.stringify(object, (key, value: unknown) => (key === "managedFields" ? undefined : value)),
  );
  out.write(format === "json" ? `${JSON.stringify(plain, undefined, 2)}\n` : renderYaml(plain));
}

/** YAML that Go's reader and ours understand alike: `yes` and `0777` as texts are quoted. */
export function renderYaml(value: unknown): string {
  return stringify(value, { version: "1.1", lineWidth: 0, aliasDuplicateObjects: false });
}

/** The table with its header line, columns three spaces apart, empty cells as `<none>`; the last one wrapped into the width. */
export function renderTable<T>(rows: readonly T[], columns: readonly Column<T>[], width?: number): string {
  const cells = [
    columns.map((column) => column.title),
    ...rows.map((row) => columns.map((column) => cell(column.value(row)))),
  ];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => visibleLength(line[index] ?? ""))));
  const hang = widths.slice(0, -1).reduce((sum, one) => sum + one + GAP, 0);
  const rest = width === undefined ? undefined : width - hang;
  const wrapped = (line: string[]) =>
    line.with(-1, wrap(line.at(-1) ?? "", rest).replaceAll("\n", `\n${" ".repeat(hang)}`));
  return cells.map((line) => `${renderLine(wrapped(line), widths)}\n`).join("");
}

/** Columns between two columns. */
const GAP = 3;

function cell(value: string | number | undefined): string {
  return value === undefined || value === "" ? "<none>" : String(value);
}

function renderLine(line: readonly string[], widths: readonly number[]): string {
  return line
    .map((text, index) =>
      index === line.length - 1 ? text : text + " ".repeat((widths[index] ?? 0) - visibleLength(text) + GAP),
    )
    .join("");
}
