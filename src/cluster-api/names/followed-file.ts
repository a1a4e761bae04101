import { readFileSync } from "node:fs";
import { monotonicNow } from "../../kube/index.ts";

/** In ms: for how long what a file says is remembered, as Go remembers `/etc/hosts`. */
const REMEMBERED = 5_000;

/**
 * What `parse` makes of a file's text, which is read again after five seconds, and parsed again when it says something else. A file that
 * cannot be read is empty.
 */
export function followFile<T>(file: string, parse: (text: string) => T, now: () => number = monotonicNow): () => T {
  let known: { readonly text: string; readonly parsed: T; readonly until: number } | undefined;
  return () => {
    if (known !== undefined && known.until > now()) return known.parsed;
    const text = readNow(file);
    const parsed = known?.text === text ? known.parsed : parse(text);
    known = { text, parsed, until: now() + REMEMBERED };
    return parsed;
  };
}

/** Read at once: a thread of libuv's, which a read in the background takes, may be one that waits for a name. */
function readNow(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
