import { readFile } from "node:fs/promises";
import { findPackageJSON } from "node:module";
import { dirname } from "node:path";
import { parseJson } from "./parsing.ts";

const file = findPackageJSON(import.meta.url) ?? "package.json";

/** The folder of this package, whether its code runs from `src`, from `dist`, or from the modules of an image. */
export const packageRoot = dirname(file);

/** Throws where package.json cannot be read. */
export async function readVersion(): Promise<string> {
  const { version } = parseJson(await readFile(file, "utf8"), file) as { readonly version: string };
  return version;
}
