import { mkdir, open, readFile, stat, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { flock } from "./flock.ts";

/** That another process holds a lock. */
export class LockedError extends Error {
  override readonly name = "LockedError";

  /** What the other process has written of itself, such as `process 12`. */
  readonly holder: string;

  constructor(holder: string) {
    super(`${holder} is at work here: wait until it has ended`);
    this.holder = holder;
  }
}

/**
 * Does the work while this process alone, of those on this machine, holds the lock of this file, which its owner alone can take.
 * Throws a LockedError that names the holder where another one does. The kernel gives the lock back with its process, however
 * that ends; what is in the file only says who has, or had it.
 */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const held = await acquire(file);
  try {
    await held.truncate();
    await held.write(`process ${process.pid}\n`, 0);
    return await work();
  } finally {
    await held.close();
  }
}

/** The file, open and locked. A holder may remove it, and its folder, in the end: then the lock is that of the file which is there next. */
async function acquire(file: string): Promise<FileHandle> {
  for (;;) {
    // The folder may be removed between, which a recursive mkdir does not stand either.
    await mkdir(dirname(file), { recursive: true, mode: 0o700 }).catch(unlessGone);
    const opened = await open(file, "a+", 0o600).catch(unlessGone);
    if (opened === undefined) continue;
    let isOurs = false;
    try {
      if (!(await flock(opened, "exclusive"))) throw await lockedBy(file);
      isOurs = await isAt(file, opened);
    } finally {
      if (!isOurs) await opened.close();
    }
    if (isOurs) return opened;
  }
}

function unlessGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

async function isAt(file: string, opened: FileHandle): Promise<boolean> {
  const [own, found] = await Promise.all([opened.stat(), stat(file).catch(() => undefined)]);
  return found?.ino === own.ino && found.dev === own.dev;
}

async function lockedBy(file: string): Promise<LockedError> {
  const holder = (await readFile(file, "utf8").catch(() => "")).trim();
  return new LockedError(holder || "another process");
}
