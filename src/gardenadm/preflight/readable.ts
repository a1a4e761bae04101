import { constants } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Whether the machine whose `/` is this folder has a file or folder there. */
export async function isReadable(root: string, path: string): Promise<boolean> {
  return await access(join(root, path), constants.R_OK).then(
    () => true,
    () => false,
  );
}

/** The text of a file of the machine whose `/` is this folder; empty where there is none. */
export async function textOf(root: string, path: string): Promise<string> {
  return await readFile(join(root, path), "utf8").catch(() => "");
}
