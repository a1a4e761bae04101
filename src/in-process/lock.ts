import { spawn } from "node:child_process";
import { mkdir, open, readFile, stat, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";

/** That another process holds a lock. */
export class LockedError extends Error {
  override readonly name = "LockedError";
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
      if (!(await lock(opened))) throw await lockedBy(file);
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

/**
 * Locks an open file by flock(1), whose own end does not end it: the lock is of what was opened (flock(2)), which only this process
 * has open from then on. Answers whether it is ours now.
 */
async function lock({ fd }: FileHandle): Promise<boolean> {
  return await new Promise((resolve, reject) => {
    const child = spawn("flock", ["-n", "-x", "3"], { stdio: ["ignore", "ignore", "ignore", fd] });
    child.once("error", (cause) => {
      reject(new Error(`cannot run flock, by which commands are kept apart: install util-linux`, { cause }));
    });
    child.once("exit", (code, signal) => {
      if (code === 0 || code === 1) resolve(code === 0);
      else reject(new Error(`flock has failed (${code === null ? signal : `exit code ${code}`})`));
    });
  });
}

async function isAt(file: string, opened: FileHandle): Promise<boolean> {
  const [own, found] = await Promise.all([opened.stat(), stat(file).catch(() => undefined)]);
  return found?.ino === own.ino && found.dev === own.dev;
}

async function lockedBy(file: string): Promise<LockedError> {
  const holder = (await readFile(file, "utf8").catch(() => "")).trim();
  return new LockedError(`${holder || "another process"} is at work here: wait until it has ended`);
}
