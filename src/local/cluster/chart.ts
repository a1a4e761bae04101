import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { packageRoot } from "../../package.ts";
import { packFiles } from "../pack-files.ts";

/** A chart below deploy/charts as Helm takes it: a tar, compressed; the same bytes for the same files. */
export async function packageChart(name: string): Promise<Buffer> {
  const folder = join(packageRoot, "deploy/charts", name);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const packed = files
    .sort()
    .map(async (file) => ({ name: join(name, relative(folder, file)), content: await readFile(file) }));
  return gzipSync(await packFiles(await Promise.all(packed)));
}
