import { readFile } from "node:fs/promises";
import { replaceFile } from "../replace-file.ts";

/** Writes a file for its owner alone, whole or not at all, and not when it says that already; returns its name. */
export async function writeIfChanged(file: string, content: string): Promise<string> {
  if ((await readFile(file, "utf8").catch(() => undefined)) === content) return file;
  await replaceFile(file, content);
  return file;
}
