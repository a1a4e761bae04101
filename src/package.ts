import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseJson } from "./parsing.ts";

/** The folder of this package, whether its code runs from `src`, from `dist`, or from the modules of an image. */
export const packageRoot = withManifest(import.meta.dirname);

/** This folder, or the nearest one above it, that has a package.json. */
function withManifest(folder: string): string {
  const above = dirname(folder);
  return existsSync(join(folder, "package.json")) || above === folder ? folder : withManifest(above);
}

/** Throws where package.json cannot be read. */
export async function readVersion(): Promise<string> {
  const file = join(packageRoot, "package.json");
  const { version } = parseJson(await readFile(file, "utf8"), file) as { readonly version: string };
  return version;
}
