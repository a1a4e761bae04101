import type { Output } from "./terminal.ts";
import { wrap } from "./wrap.ts";

/**
 * The lines of each value that is given, `Name:  value`, values one below the other and wrapped into the width; a value
 * without a name goes on above.
 */
export function renderFields(values: Readonly<Record<string, string | undefined>>, width?: number): string[] {
  const given = Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const column = Math.max(...given.map(([name]) => name.length)) + 3;
  return given.flatMap(([name, value]) => {
    const lines = value.split("\n").map((line) => wrap(line, width === undefined ? undefined : width - column));
    const head = name ? `${name}:` : "";
    return lines
      .join("\n")
      .split("\n")
      .map((line, index) => (index === 0 ? head : "").padEnd(column) + line);
  });
}

/** The columns that are left of an output's for lines that are indented by two; undefined where there is no end to them. */
export const inner = ({ width }: Output): number | undefined => (width === undefined ? undefined : width - 2);
