import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Changes with all code that our processes may load; the CLI is none of it. */
export async function hashCode(): Promise<string> {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const files = (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.[cm]?[jt]s$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !relative(root, file).startsWith(`cli${sep}`));
  return await hashFiles([...files.sort(), join(root, "../package.json")]);
}

/** Changes with the names of these files, and with what is in them. */
export async function hashFiles(files: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const file of files) hash.update(file).update(await readFile(file));
  return hash.digest("hex").slice(0, 16);
}
