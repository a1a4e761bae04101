import { open } from "node:fs/promises";
import { join } from "node:path";
import { flock } from "../in-process/flock.ts";

/** An etcd runs with the data that was to be judged or replaced. */
export class DataInUseError extends Error {
  constructor(dataDir: string) {
    super(`etcd runs with the data in ${dataDir}: stop it first`);
    this.name = "DataInUseError";
  }
}

/**
 * Throws DataInUseError while an etcd has the data open: it alone has a lock (flock(2)) on its database. One that is had here for the
 * moment of the look keeps no etcd from starting: it tries again.
 */
export async function refuseRunning(dataDir: string): Promise<void> {
  const database = await open(databaseOf(dataDir), "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
  });
  if (database === undefined) return;
  try {
    if (!(await flock(database, "shared"))) throw new DataInUseError(dataDir);
  } finally {
    await database.close();
  }
}

/** The file of an etcd's database. */
export const databaseOf = (dataDir: string): string => join(dataDir, "member/snap/db");

/** The folder of its write-ahead log. */
export const logOf = (dataDir: string): string => join(dataDir, "member/wal");
