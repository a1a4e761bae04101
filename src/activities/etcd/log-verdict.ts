import { withoutSecrets } from "../../redaction.ts";
import { cut, entryOf, saidBy } from "../waits/log-words.ts";

/** Why an etcd has ended, by its own log: what it found of its data or of their disk. */
export interface LogVerdict {
  /**
   * `damaged` and `gone` are about the data, and other data mend them. `full` and `unreadable` are about the disk: the data may be
   * whole.
   */
  readonly state: "damaged" | "gone" | "full" | "unreadable";
  /** What etcd said, in one line. */
  readonly why: string;
}

/**
 * Judges the log of an etcd that has ended, by the words of etcd 3.6 (tried, line by line, in test/kube/etcd/damage.test.ts).
 * Undefined where it ended for another reason, or does not say. What is about a disk counts first: a disk that is full or away makes
 * etcd panic as damage does. Keys of requests, which users of the Shoot choose, are in the log of an etcd that is slow, and count for nothing:
 * they may be as long as a request, and a kubelet that returns the end of a log may begin within one. So a first line that is not an
 * entry is left out.
 */
export function judgeLog(log: string): LogVerdict | undefined {
  const [first = "", ...others] = log.split("\n");
  const lines = [...(isEntry(first) ? [first] : []), ...others].flatMap((line) => lastWords(line) ?? []);
  for (const [state, pattern] of patterns) {
    const line = lines.findLast((one) => pattern.test(one));
    if (line !== undefined) return { state, why: shown(line) };
  }
  if (!lines.some((one) => one.startsWith("go.etcd.io/bbolt"))) return undefined;
  const panic = lines.findLast((one) => one.startsWith("panic: "));
  return panic === undefined ? undefined : { state: "damaged", why: shown(panic) };
}

/** Whether this is the whole log of an etcd that has ended before it served: only that tells of one that is about to start again. */
export function isOfFailedStart(log: string): boolean {
  const words = new Set(log.split("\n").map((line) => entryOf(line)?.msg));
  return words.has("starting an etcd server") && !words.has("ready to serve client requests");
}

/** Words of Linux, etcd's log, bbolt, and Go, in the order in which they count. */
const patterns: readonly (readonly [LogVerdict["state"], RegExp])[] = [
  ["full", /no space left on device|disk quota exceeded/i],
  ["unreadable", /input\/output error|read-only file system|stale (?:NFS )?file handle|^unexpected fault address/i],
  ["gone", /cannot fetch cluster info from peer urls/],
  [
    "damaged",
    new RegExp(
      [
        // The write-ahead log
        "(?:walpb|wal): crc mismatch",
        "wal: (?:slice bounds out of range|conflicting metadata found|file not found|snapshot (?:mismatch|not found))",
        "wal: max entry size limit exceeded",
        "panic: cannot use none as id",
        // Snapshots of raft, and the database
        "failed to recover v3 backend from snapshot",
        "database snapshot file path not found",
        "both meta pages are invalid",
        "failed to open database.*(?:invalid database|checksum error|version mismatch)",
        "panic: (?:assertion failed: Page expected to be|page \\d+|freepages|invalid page|invalid freelist)",
      ].join("|"),
    ),
  ],
];

/** Before it is cut: half a password has no end by which it would be known. It goes into conditions and Events. */
const shown = (line: string): string => cut(withoutSecrets(line.trim()), LONGEST);

/** In characters: what a condition has room for. */
const LONGEST = 200;

/** What a line says of the end: Go's own words, and those of etcd where it gives up; undefined for what it goes on after. */
function lastWords(line: string): string | undefined {
  if (!isEntry(line)) return line;
  const entry = entryOf(line);
  return entry !== undefined && LAST_LEVELS.has(entry.level) ? saidBy(entry) : undefined;
}

const isEntry = (line: string): boolean => line.trimStart().startsWith("{");

const LAST_LEVELS: ReadonlySet<unknown> = new Set(["fatal", "panic", "error"]);
