import { formatAge } from "./time.ts";

/** One line for each value that is given, `Name:  value`, values one below the other; a value without a name goes on above. */
export function renderFields(values: Readonly<Record<string, string | undefined>>): string[] {
  const given = Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const width = Math.max(...given.map(([name]) => name.length)) + 2;
  return given.map(([name, value]) => `${name ? `${name}:`.padEnd(width) : " ".repeat(width)} ${value}`);
}

/** How long ago a time was, and the time itself. */
export function ago(time: string | undefined, now: number): string {
  return time === undefined ? "<unknown>" : `${formatAge(time, now)} ago (${time})`;
}
