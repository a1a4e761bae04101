import { access } from "node:fs/promises";
import { basename } from "node:path";
import { execa } from "execa";

/** The shared libraries of programs of this host and the loader, at the paths by which the loader finds them. */
export async function findLibraries(programs: readonly string[]): Promise<string[]> {
  const { stdout } = await execa("ldd", programs, { reject: false });
  const found = [...stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path ?? "");
  const libraries = [...new Set(found)].sort();
  await Promise.all(libraries.map((path) => access(path)));
  if (libraries.every((path) => !basename(path).startsWith("libc.")))
    throw new Error(`cannot find the libraries of ${programs[0]} with ldd`);
  return libraries;
}
