import { readFile, rename, writeFile } from "node:fs/promises";

/** Writes a file for its owner alone, whole or not at all, and not when it says that already; returns its name. */
export async function writeIfChanged(file: string, content: string): Promise<string> {
  if ((await readFile(file, "utf8").catch(() => undefined)) === content) return file;
  await writeFile(`${file}.new`, content, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return file;
}
