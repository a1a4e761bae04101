import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";

/** A file, folder or link. */
export interface Entry {
  readonly kind: "file" | "folder" | "link";
  /** In octal digits. */
  readonly mode: string;
  readonly owner: number;
  /** Of a file what is in it, a character for each byte; of a link where it leads. */
  readonly content: string;
}

/** What is below these folders of a root, by path. Those that are missing are left out. */
export async function fileTree(root: string, folders: readonly string[] = FOLDERS): Promise<Record<string, Entry>> {
  const paths = await Promise.all(
    folders.map(async (folder) => {
      const below = await readdir(join(root, folder), { recursive: true }).catch(() => []);
      return below.map((path) => join(folder, path));
    }),
  );
  const described = paths.flat().map(async (path) => [path, await describe(join(root, path))] as const);
  return Object.fromEntries((await Promise.all(described)).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Where gardenadm writes on a machine. */
const FOLDERS = ["/etc", "/var/lib", "/opt", "/usr/local"];

async function describe(path: string): Promise<Entry> {
  const found = await lstat(path);
  const [mode, owner] = [found.mode.toString(8), found.uid];
  if (found.isSymbolicLink()) return { kind: "link", mode, owner, content: await readlink(path) };
  if (!found.isFile()) return { kind: "folder", mode, owner, content: "" };
  return { kind: "file", mode, owner, content: await readFile(path, "latin1") };
}
