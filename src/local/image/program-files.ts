import { readdir, readFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import type { ImageFile } from "./tar.ts";

/**
 * The files with which one program of this package runs below `target`: the modules of ours that it loads, from `src` or
 * `dist`, whichever this process runs; the packages that they import; and the packages of those. Of all production packages
 * that is a small part; most of the rest is Temporal's. What is in `src` becomes JavaScript in `dist`: a program that takes
 * types out of its own code when it starts needs 30 MB more for that, for as long as it runs.
 */
export async function collectProgram(root: string, main: string, target: string): Promise<ImageFile[]> {
  const { modules, packages } = await followImports(join(root, main));
  const folders = await closeOver(root, packages);
  const ofPackages = await Promise.all(folders.map((folder) => listFiles(join(root, folder))));
  const files = [join(root, "package.json"), ...ofPackages.flat()];
  const placeOf = (source: string) => join(target, compiledPath(relative(root, source)));
  return [
    ...files.map((source) => ({ path: placeOf(source), source, mode: 0o644 })),
    ...(await Promise.all(
      modules.map(async (source) =>
        source.endsWith(".ts")
          ? { path: placeOf(source), text: compile(await readFile(source, "utf8")), mode: 0o644 }
          : { path: placeOf(source), source, mode: 0o644 },
      ),
    )),
  ];
}

/** Where a module of `src` is when it is JavaScript; any other file stays where it is. */
export function compiledPath(path: string): string {
  return path.startsWith("src/") ? path.replace(/^src/, "dist").replace(/[.]ts$/, ".js") : path;
}

/** Lines and columns stay, so that stack traces lead to the source. */
function compile(code: string): string {
  return stripTypeScriptTypes(code).replace(/"(\.{1,2}\/[^"\n]+)\.ts"/g, '"$1.js"');
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
