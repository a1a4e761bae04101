import { choice } from "../option.ts";
import { renderTable, type Column } from "./table.ts";
import type { Output } from "./terminal.ts";
import { renderYaml } from "../../yaml.ts";

/** The `-o` option of every verb that prints objects. */
export const outputOption = choice(["json", "yaml", "wide", "name"], "Output", "o");

/** What `-o` may say; undefined is the table. */
export type Format = "json" | "yaml" | "wide" | "name" | undefined;

/** How a list of rows is shown: by which columns, and what `-o name` says of a row. */
export interface Listing<T> {
  readonly format: Format;
  readonly columns: readonly Column<T>[];
  name(row: T): string;
}

/** Prints the rows as kubectl would: a table, or the objects themselves as JSON or YAML. Only `-o wide` lets it exceed the window. */
export function printList<T>(out: Output, rows: readonly T[], { format, columns, name }: Listing<T>): void {
  if (format === "json" || format === "yaml") printObject(out, { apiVersion: "v1", kind: "List", items: rows }, format);
  else if (format === "name") out.write(rows.map((row) => `${name(row)}\n`).join(""));
  else if (format === "wide") out.write(renderTable(rows, columns));
  else
    out.write(
      renderTable(
        rows,
        columns.filter((column) => !column.wide),
        out.width,
      ),
    );
}

/** Prints one object as JSON or YAML, without its managed fields. */
export function printObject(out: Output, object: unknown, format: "json" | "yaml"): void {
  const plain: unknown = JSON.parse(
    JSON.stringify(object, (key, value: unknown) => (key === "managedFields" ? undefined : value)),
  );
  out.write(format === "json" ? `${renderJson(plain)}\n` : renderYaml(plain));
}

/** JSON in which every control character is escaped. */
const renderJson = (plain: unknown): string =>
  JSON.stringify(plain, undefined, 2).replaceAll(
    /[\u007F-\u009F]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
