import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";

/** A chart below deploy/charts as Helm takes it: a tar, compressed; the same bytes for the same files. */
export async function packageChart(name: string): Promise<Buffer> {
  const folder = fileURLToPath(new URL(`../../../deploy/charts/${name}`, import.meta.url));
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const tar = pack();
  for (const file of files.sort())
    tar.entry({ name: join(name, relative(folder, file)), mtime: new Date(0) }, await readFile(file));
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(chunk as Buffer);
  return gzipSync(Buffer.concat(chunks));
}
