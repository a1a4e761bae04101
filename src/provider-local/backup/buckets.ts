import { constants, createWriteStream } from "node:fs";
import { chmod, type FileHandle, lstat, lutimes, mkdir, open, readdir, rename, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

/** Buckets that are directories: what an object store would be elsewhere. Every method may be repeated. */
export interface Buckets {
  createBucket(bucket: string): Promise<void>;
  /** Removes a bucket that holds nothing but empty entries; throws when it does. */
  removeBucket(bucket: string): Promise<void>;
  /** The directory of an entry, made if it is not there. Throws when there is no such bucket. */
  createEntry(bucket: string, entry: string): Promise<string>;
  removeEntry(bucket: string, entry: string): Promise<void>;
  /** The snapshots of an entry, in no order. Throws a NoSuchEntry when there is none of that name. */
  list(bucket: string, entry: string): Promise<Snapshot[]>;
  /** Copies one snapshot, time and all, unless it is there already; a copy that was cut short is never taken for whole. */
  copy(entry: string, snapshot: Snapshot, o: { from: string; to: string; signal: AbortSignal }): Promise<void>;
  remove(bucket: string, entry: string, name: string): Promise<void>;
  /** Removes what was begun before then and never became a snapshot. */
  sweep(bucket: string, entry: string, before: number): Promise<void>;
}

/** What was asked for is not in any bucket, or not any more. */
export class NoSuchEntry extends Error {}

/** A file of a snapshot; `takenAt` is ms since the epoch. */
export interface Snapshot {
  readonly name: string;
  readonly size: number;
  readonly takenAt: number;
}

/** Buckets below a directory that only its owner may look into: a snapshot holds a Shoot's secrets. */
export function createBuckets(directory: string): Buckets {
  const pathOf = (...names: readonly string[]) => join(directory, ...names.map(plain));

  return {
    async createBucket(bucket) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await chmod(directory, 0o700);
      await mkdir(pathOf(bucket), { recursive: true });
    },
    async removeBucket(bucket) {
      try {
        for (const entry of await readdir(pathOf(bucket))) await rmdir(pathOf(bucket, entry));
        await rmdir(pathOf(bucket));
      } catch (error) {
        if (!isMissing(error)) throw new Error(`cannot remove bucket ${bucket}: ${whyKept(error)}`, { cause: error });
      }
    },
    async createEntry(bucket, entry) {
      const path = pathOf(bucket, entry);
      try {
        await mkdir(path);
      } catch (error) {
        if (isMissing(error)) throw new Error(`there is no bucket ${bucket}`, { cause: error });
        if (codeOf(error) !== "EEXIST") throw error;
      }
      await chmod(path, 0o777); // for whatever user a pod runs as; the folders above let no other user in
      return path;
    },
    removeEntry: (bucket, entry) => rm(pathOf(bucket, entry), { recursive: true, force: true }),
    async list(bucket, entry) {
      const path = pathOf(bucket, entry);
      const names = await readdir(path).catch((cause: unknown) => {
        throw isMissing(cause) ? new NoSuchEntry(`there is no ${entry} in bucket ${bucket}`, { cause }) : cause;
      });
      const found = await Promise.all(
        names.filter((name) => name.endsWith(SUFFIX)).map((name) => describe(path, name)),
      );
      return found.filter((one) => one !== undefined);
    },
    async copy(entry, snapshot, { from, to, signal }) {
      const target = pathOf(to, entry);
      const existing = await describe(target, snapshot.name);
      if (existing?.size === snapshot.size && existing.takenAt === snapshot.takenAt) return;
      const begun = join(target, `${snapshot.name}.copy`);
      await rm(begun, { force: true });
      const source = await openSnapshot(pathOf(from, entry, snapshot.name));
      // One that a pod has made in its place meanwhile fails.
      const copy = createWriteStream(begun, { flags: "wx", flush: true, mode: 0o600 });
      await pipeline(source.createReadStream(), copy, { signal });
      await lutimes(begun, snapshot.takenAt / 1000, snapshot.takenAt / 1000);
      await rename(begun, join(target, plain(snapshot.name)));
      await sync(target);
    },
    remove: (bucket, entry, name) => rm(pathOf(bucket, entry, name), { force: true }),
    async sweep(bucket, entry, before) {
      const path = pathOf(bucket, entry);
      for (const name of (await readdir(path)).filter((one) => !one.endsWith(SUFFIX))) {
        const file = await describe(path, name);
        if (file && file.takenAt < before) await rm(join(path, name), { force: true });
      }
    },
  };
}

const SUFFIX = ".db";

/** A name is one step down and never leads out. */
function plain(name: string): string {
  if (name === "" || name.startsWith(".") || name.includes("/")) throw new Error(`${name} is no name in a bucket`);
  return name;
}

/*
 * Pods of a Shoot write into its entry. What they put there is read as a file or not at all: a link would lead to files of the
 * machine, which this process may read and write, and a pipe would hold it up.
 */

async function openSnapshot(path: string): Promise<FileHandle> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new Error(`${path} is not a regular file`);
}

/** Undefined when it went meanwhile, or is not a regular file. */
async function describe(path: string, name: string): Promise<Snapshot | undefined> {
  try {
    const file = await lstat(join(path, plain(name)));
    return file.isFile() ? { name, size: file.size, takenAt: Math.floor(file.mtimeMs) } : undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** What was renamed stays renamed when the machine goes down. */
async function sync(directory: string): Promise<void> {
  const handle = await open(directory);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function whyKept(error: unknown): string {
  if (codeOf(error) === "ENOTEMPTY") return `${(error as NodeJS.ErrnoException).path ?? "it"} is not empty`;
  return error instanceof Error ? error.message : String(error);
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

const isMissing = (error: unknown): boolean => codeOf(error) === "ENOENT";
