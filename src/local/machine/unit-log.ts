import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";

/**
 * Returns the end of a unit's log, at most 16 KiB; nothing where there is none. Those who run programs as root in the machine
 * write into that folder: what is no file there is not opened.
 */
export async function readUnitLog(logDir: string, unit: string): Promise<string> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(join(logDir, `${unit}.log`), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(unlessAbsent);
  if (file === undefined) return "";
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return "";
    const position = Math.max(0, stats.size - MOST);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(MOST), position });
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

const MOST = 16_384;

/** A symbolic link in its place (ELOOP) counts as no log. */
function unlessAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT" || error.code === "ELOOP" || error.code === "ENXIO") return undefined;
  throw error;
}
