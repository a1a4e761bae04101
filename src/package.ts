import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { parseJson } from "./parsing.ts";

/** The folder of this package, whether its code runs from `src`, from `dist`, or from the modules of an image. */
export const packageRoot = withManifest(import.meta.dirname);

/** This folder, or the nearest one above it, that has a package.json. */
function withManifest(folder: string): string {
  const above = dirname(folder);
  return existsSync(join(folder, "package.json")) || above === folder ? folder : withManifest(above);
}

/** The main module of a program of this package: `src/<program>/main.ts` in a checkout, `dist/<program>/main.js` where only that was shipped. */
export function mainOf(program: string): string {
  const extension = extname(import.meta.filename);
  return join(packageRoot, extension === ".ts" ? "src" : "dist", program, `main${extension}`);
}

/** Throws where package.json cannot be read. */
export async function readVersion(): Promise<string> {
  const file = join(packageRoot, "package.json");
  const { version } = parseJson(await readFile(file, "utf8"), file) as { readonly version: string };
  return version;
}
