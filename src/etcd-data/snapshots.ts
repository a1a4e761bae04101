import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { backupEntryName } from "../api/extensions/backup-entry.ts";
import { SYSTEM_NAMESPACE } from "../api/names.ts";
import { BUNDLE_SUFFIX, SCHEDULE } from "../components/index.ts";
import type { SnapshotStore } from "./store.ts";

/** A snapshot in a store, which was read before it was put there, and whose bundle is beside it. */
export interface FoundSnapshot {
  readonly name: string;
  /** The uid of its Shoot. */
  readonly uid: string;
  /** In ms since 1970: when it was due, or put there. */
  readonly at: number;
  /** In bytes. */
  readonly size: number;
}

/** That a store does not answer, or cannot do its work now: it may a moment later. */
export class StoreAwayError extends Error {
  override readonly name = "StoreAwayError";
}

/**
 * The snapshots of self-hosted Shoots in a store, the newest first: of the Shoot with this uid, or of all. One without a bundle is
 * left out. Whether a file is whole shows when it is restored: go on with the next where it is not. Throws a StoreAwayError
 * where the store does not answer, and another Error where it refuses.
 */
export async function findSnapshots(
  store: SnapshotStore,
  { uid, signal }: { readonly uid?: string; readonly signal?: AbortSignal } = {},
): Promise<readonly FoundSnapshot[]> {
  const folders = uid === undefined ? `${PREFIX}*` : `${PREFIX}${uid}`;
  const listing = await ask(
    store,
    "list",
    [
      ...["lsf", `${store.bucket}/`, "--config=", "--recursive", "--files-only", "--use-server-modtime"],
      ...["--format=pst", "--separator=\t", "--time-format=RFC3339"],
      ...[`--include=/${folders}/*.db`, `--include=/${folders}/*.db${BUNDLE_SUFFIX}`],
    ],
    signal,
  );
  const files = listing.split("\n").map((line) => line.split("\t"));
  const paths = new Set(files.map(([path]) => path));
  return files
    .filter(([path = ""]) => path.endsWith(".db") && paths.has(`${path}${BUNDLE_SUFFIX}`))
    .map(snapshotOf)
    .toSorted((one, other) => other.at - one.at || (one.name < other.name ? 1 : -1));
}

/** A snapshot and its bundle on this machine. */
export interface FetchedSnapshot {
  readonly file: string;
  readonly bundle: Buffer;
}

/** Brings a snapshot into a folder that is there, and its bundle. Throws as {@link findSnapshots}, and where one of both is gone. */
export async function fetchSnapshot(
  store: SnapshotStore,
  { name, uid }: Pick<FoundSnapshot, "name" | "uid">,
  { folder, signal }: { readonly folder: string; readonly signal?: AbortSignal },
): Promise<FetchedSnapshot> {
  const from = `${store.bucket}/${PREFIX}${uid}`;
  for (const file of [`${name}${BUNDLE_SUFFIX}`, name])
    await ask(
      store,
      `fetch ${file}`,
      ["copyto", `${from}/${file}`, join(folder, file), "--config=", "--error-on-no-transfer", "--ignore-times"],
      signal,
    );
  return { file: join(folder, name), bundle: await readFile(join(folder, `${name}${BUNDLE_SUFFIX}`)) };
}

const PREFIX = backupEntryName(SYSTEM_NAMESPACE, "");

/** A line of the listing. Copying a bucket changes its times, and no names. */
function snapshotOf([path = "", size = "", time = ""]: readonly string[]): FoundSnapshot {
  const [folder = "", name = ""] = path.split("/");
  const minutes = new RegExp(`^${SCHEDULE}-(\\d{8})-[^-]+\\.db$`).exec(name)?.[1];
  const at = minutes === undefined ? Date.parse(time) : Number(minutes) * 60_000;
  return { name, uid: folder.slice(PREFIX.length), at, size: Number(size) };
}

/** Who waits is told soon that a store is away or not trusted; rclone would try for minutes. */
const TIMEOUTS = ["--retries=1", "--low-level-retries=3", "--contimeout=10s"];

async function ask(
  { rclone, bucket }: SnapshotStore,
  what: string,
  words: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  return await rclone([...words, ...TIMEOUTS], signal).catch((error: unknown) => {
    signal?.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    const message = `cannot ${what} in ${bucket}: ${why}`;
    throw new (isAway(why) ? StoreAwayError : Error)(message, { cause: error });
  });
}

/** What rclone says of a store that does not answer, or cannot do its work now; it has no exit code of its own for that. */
const isAway = (words: string): boolean =>
  /dial tcp|connection (refused|reset)|no such host|no route to host|timeout|deadline exceeded|\bEOF\b|StatusCode: 5\d\d/i.test(
    words,
  );
