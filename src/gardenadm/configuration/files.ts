import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createFault, type Fault } from "./fault.ts";

/** A file of the configuration: its path below the folder, and its text. */
export interface ConfigurationFile {
  readonly file: string;
  readonly text: string;
}

/** In bytes; an object that is larger fits into no etcd. */
const LARGEST_FILE = 3 * 1024 * 1024;

/**
 * Reads what may hold objects: each `*.yaml`, `*.yml` and `*.json` at any depth, but for what is hidden, sorted by path. Links
 * are followed to files and never to folders. Throws what the file system says about the folder itself.
 */
export async function readFiles(folder: string): Promise<{ files: ConfigurationFile[]; faults: Fault[] }> {
  const files: ConfigurationFile[] = [];
  const faults: Fault[] = [];
  for (const file of await manifestsIn(folder)) {
    const read = await readManifest(join(folder, file), file);
    if (typeof read === "string") files.push({ file, text: read });
    else if (read !== undefined) faults.push(read);
  }
  return { files, faults };
}

async function manifestsIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  const pending = [""];
  for (let at = pending.pop(); at !== undefined; at = pending.pop())
    for (const entry of await readdir(join(folder, at), { withFileTypes: true })) {
      const path = join(at, entry.name);
      if (entry.name.startsWith(".")) continue;
      if (entry.isDirectory()) pending.push(path);
      else if (/\.(ya?ml|json)$/.test(entry.name)) found.push(path);
    }
  return found.sort();
}

/** The text of a manifest, which `file` calls in sentences; nothing for a link to a folder; a fault where it cannot be one. */
export async function readManifest(path: string, file: string): Promise<string | Fault | undefined> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return undefined;
    if (!found.isFile()) return createFault({ file }, "is no regular file: take it out of the folder");
    if (found.size > LARGEST_FILE)
      return createFault({ file }, `has ${found.size} bytes, and an object at most ${LARGEST_FILE}: split the file`);
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
  } catch (error) {
    if (error instanceof TypeError) return createFault({ file }, "is not text in UTF-8: save it as such");
    return createFault({ file }, `cannot be read (${codeOf(error)}): make it readable, or take it out of the folder`);
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);
