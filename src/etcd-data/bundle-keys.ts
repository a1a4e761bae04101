import { randomBytes } from "node:crypto";
import { readKeyFile, type Key } from "../key-file.ts";
import { isFile, writeWhole } from "../node-agent/whole-file.ts";

/**
 * The operator's keys that seal bundles. A file that is not there is made, with one key, for its owner alone and on the disk
 * before it is used: without it, no backup opens. The operator keeps a copy elsewhere.
 */
export async function ensureBundleKeys(file: string): Promise<readonly Key[]> {
  if (!(await isFile(file))) {
    const key = { id: `bundle-${randomBytes(4).toString("hex")}`, secret: randomBytes(32).toString("base64") };
    await writeWhole(file, Buffer.from(`${JSON.stringify({ keys: [key] }, null, 2)}\n`), 0o600);
  }
  return await readKeyFile(file);
}
