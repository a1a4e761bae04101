import { randomBytes } from "node:crypto";
import { lstat, stat } from "node:fs/promises";
import { readKeyFile, type Key } from "../key-file.ts";
import { writeWhole } from "../node-agent/whole-file.ts";

/**
 * The operator's keys that seal bundles. A file that is not there is made, with one key, for its owner alone and on the disk
 * before it is used: without it, no backup opens. The operator keeps a copy elsewhere. Throws where the file is a link that leads
 * nowhere: the keys may be on a disk that is not mounted.
 */
export async function ensureBundleKeys(file: string): Promise<readonly Key[]> {
  if (!(await isAny(stat, file))) {
    if (await isAny(lstat, file))
      throw new Error(
        `cannot use the keys in ${file}: it is a link to a file that is not there; put that there, or remove the link, to have a new key made`,
      );
    const key = { id: `bundle-${randomBytes(4).toString("hex")}`, secret: randomBytes(32).toString("base64") };
    await writeWhole(file, Buffer.from(`${JSON.stringify({ keys: [key] }, null, 2)}\n`), 0o600);
  }
  return await readKeyFile(file);
}

async function isAny(look: (path: string) => Promise<unknown>, path: string): Promise<boolean> {
  try {
    await look(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return false;
  }
}
