import { parseJson } from "../../parsing.ts";

/** A line of JSON that etcd or one of its tools has logged, as far as it is read here. */
export interface LogEntry {
  readonly level?: unknown;
  readonly msg?: unknown;
  readonly error?: unknown;
}

/** Reads a line of a log as an entry of etcd's; undefined for another line, and for one that was cut short. */
export function entryOf(line: string): LogEntry | undefined {
  if (!line.trimStart().startsWith("{")) return undefined;
  try {
    return parseJson(line, "a line of the log") as LogEntry;
  } catch {
    return undefined;
  }
}

/** Returns the text of an entry, which is in two of its fields; empty where it has neither. */
export const saidBy = ({ msg, error }: LogEntry): string =>
  [msg, error].filter((one) => typeof one === "string" && one !== "").join(": ");

/** Cuts a text to so many characters, of which the last is then an ellipsis. */
export const cut = (text: string, longest: number): string =>
  text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
