import { link, mkdir, readFile, rm, unlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** That another process holds a lock. */
export class LockedError extends Error {
  override readonly name = "LockedError";
}

/** Which process holds a lock: its number alone is given to others, also after a boot. */
interface Holder {
  readonly pid: number;
  /** In clock ticks after the boot (proc(5), field 22 of stat). */
  readonly startedAt: string;
  readonly boot: string;
}

/**
 * Does the work while this process alone holds the lock of this file. Throws a LockedError, naming the holder, where one that
 * lives has it; what a dead one, or one before the last boot, has left is taken over.
 */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const own = await holderOf(process.pid);
  if (own === undefined) throw new Error("cannot lock: /proc does not show this process");
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    await take(file, draft);
  } finally {
    await rm(draft, { force: true });
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

/** A link appears with its whole content, or not at all. */
async function take(file: string, draft: string): Promise<void> {
  for (;;) {
    try {
      return await link(draft, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const holder = await readHolder(file);
    if (holder === undefined) continue; // it has just been given back
    if (await lives(holder)) throw new LockedError(`process ${holder.pid} is at work here: wait until it has ended`);
    await discard(file, holder);
  }
}

/** Two that find the same dead holder: the file goes only while it is still that one's. */
async function discard(file: string, dead: Holder): Promise<void> {
  const aside = `${file}.dead.${process.pid}`;
  await rm(aside, { force: true });
  await link(file, aside).catch(() => {});
  const moved = await readHolder(aside);
  if (moved !== undefined && JSON.stringify(moved) === JSON.stringify(dead)) await unlink(file).catch(() => {});
  await rm(aside, { force: true });
}

async function readHolder(file: string): Promise<Holder | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Holder);
  } catch {
    return { pid: 0, startedAt: "", boot: "" }; // not one of ours: no process holds it
  }
}

async function lives(holder: Holder): Promise<boolean> {
  const now = await holderOf(holder.pid);
  return now !== undefined && now.startedAt === holder.startedAt && now.boot === holder.boot;
}

async function holderOf(pid: number): Promise<Holder | undefined> {
  const [stat, boot] = await Promise.all([
    readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined),
    readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => ""),
  ]);
  // The name of the program, in brackets, may hold anything.
  const startedAt = stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  return startedAt === undefined ? undefined : { pid, startedAt, boot: boot.trim() };
}
