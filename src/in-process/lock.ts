import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { dirname } from "node:path";

/** That another process holds a lock. */
export class LockedError extends Error {
  override readonly name = "LockedError";
}

/**
 * Does the work while this process alone, of those in its network namespace, holds the lock of this file. Throws a LockedError
 * that names the holder where another one does. The kernel gives the lock back with its process, however that ends; the file only
 * says who has, or had it.
 */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const server = createServer((socket) => socket.destroy());
  try {
    await listen(server, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    const holder = (await readFile(file, "utf8").catch(() => "")).trim();
    throw new LockedError(`${holder || "another process"} is at work here: wait until it has ended`, { cause: error });
  }
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, `process ${process.pid}\n`, { mode: 0o600 });
    return await work();
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

/** A name that starts with NUL is in no file system (unix(7), abstract sockets). */
async function listen(server: Server, file: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(`\0perennial:${file}`, resolve);
  });
}
