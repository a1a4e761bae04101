import { realpath } from "node:fs/promises";
import { buildImage, type Image } from "../../src/local/image/build.ts";
import { baseFiles } from "../../src/local/image/images.ts";
import { findLibraries } from "../../src/local/image/libraries.ts";
import type { Logger } from "../../src/log.ts";

/** Builds an image of this name with this host's shell and `sleep`. */
export async function buildShellImage(name: string, folder: string, log: Logger): Promise<Image> {
  const programs = await Promise.all(
    ["/bin/sh", "/bin/sleep"].map(async (path) => ({ path, source: await realpath(path), mode: 0o755 })),
  );
  const libraries = await findLibraries(programs.map(({ source }) => source));
  const files = [...baseFiles, ...programs, ...libraries.map((path) => ({ path, source: path, mode: 0o755 }))];
  return await buildImage({ name, files }, folder, log);
}
