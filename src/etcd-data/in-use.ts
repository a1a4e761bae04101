import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** An etcd runs with the data that was to be judged or replaced. */
export class DataInUseError extends Error {
  constructor(dataDir: string, pid: number) {
    super(`etcd runs with the data in ${dataDir} (process ${pid}): stop it first`);
    this.name = "DataInUseError";
  }
}

/** Throws DataInUseError while an etcd has the data open: it holds a lock on its database. */
export async function refuseRunning(dataDir: string): Promise<void> {
  const database = await stat(databaseOf(dataDir)).catch(() => undefined);
  if (database === undefined) return;
  const locks = await readFile("/proc/locks", "utf8").catch(() => "");
  const place = `${hex(database.dev >> 8)}:${hex(database.dev & 0xff)}:${database.ino}`;
  for (const line of locks.split("\n")) {
    const [, sort, , , pid, at] = line.split(/\s+/);
    if (sort === "FLOCK" && at === place) throw new DataInUseError(dataDir, Number(pid));
  }
}

/** The file of an etcd's database. */
export const databaseOf = (dataDir: string): string => join(dataDir, "member/snap/db");

/** The folder of its write-ahead log. */
export const logOf = (dataDir: string): string => join(dataDir, "member/wal");

const hex = (number: number): string => number.toString(16).padStart(2, "0");
