import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import type { ImageFile } from "./tar.ts";

/**
 * The files with which one program of this package runs below `target`: the modules of ours that it loads, from `src` or
 * `dist`, whichever this process runs; the packages that they import; and the packages of those. Of all production packages
 * that is a small part; most of the rest is Temporal's.
 */
export async function collectProgram(root: string, main: string, target: string): Promise<ImageFile[]> {
  const { modules, packages } = await followImports(join(root, main));
  const folders = await closeOver(root, packages);
  const ofPackages = await Promise.all(folders.map((folder) => listFiles(join(root, folder))));
  const files = [join(root, "package.json"), ...modules, ...ofPackages.flat()];
  return files.map((source) => ({ path: join(target, relative(root, source)), source, mode: 0o644 }));
}

/** Modules by their paths, and packages by their names. Imports of types alone are gone when the code runs. */
async function followImports(main: string): Promise<{ modules: string[]; packages: Set<string> }> {
  const modules = new Set([main]);
  const packages = new Set<string>();
  for (const file of modules) {
    const code = await readFile(file, "utf8");
    for (const { groups } of code.matchAll(imports)) {
      const from = groups?.["from"] ?? groups?.["later"] ?? "";
      if (from.startsWith(".")) modules.add(resolve(dirname(file), from));
      else if (!from.startsWith("node:")) packages.add(nameOf(from));
    }
  }
  return { modules: [...modules].sort(), packages };
}

const imports = /^(?:import|export)(?! type\b)(?:[^"';]*?\bfrom)? "(?<from>[^"]+)";$|\bimport\("(?<later>[^"]+)"\)/gm;

/** `undici/types` is a part of undici, `@peculiar/x509` a name. */
const nameOf = (from: string): string => from.split("/", from.startsWith("@") ? 2 : 1).join("/");

/** The folders of these packages and of all that they depend on, as the lock has laid them out. */
async function closeOver(root: string, names: Iterable<string>): Promise<string[]> {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as Lock;
  const found = new Set([...names].map((name) => `node_modules/${name}`));
  for (const folder of found)
    for (const name of Object.keys(lock.packages[folder]?.dependencies ?? {})) found.add(locate(lock, folder, name));
  return [...found].sort();
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dependencies?: Readonly<Record<string, string>> }>>;
}

/** Where Node finds a package from the folder of another: in the nearest node_modules. */
function locate({ packages }: Lock, from: string, name: string): string {
  const nested = `${from}/node_modules/${name}`;
  if (nested in packages) return nested;
  const at = from.lastIndexOf("/node_modules/");
  if (at !== -1) return locate({ packages }, from.slice(0, at), name);
  const hoisted = `node_modules/${name}`;
  if (hoisted in packages) return hoisted;
  throw new Error(`cannot find package ${name}, on which ${from} depends, in package-lock.json`);
}

/** Without nested packages, which are found by themselves. */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const wanted = entries.filter(({ name }) => name !== "node_modules" && !/\.(map|[cm]?ts)$/.test(name));
  const files = wanted.filter((entry) => entry.isFile()).map(({ name }) => join(folder, name));
  const folders = wanted.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
  return [...files, ...(await Promise.all(folders.map(listFiles))).flat()].sort();
}
