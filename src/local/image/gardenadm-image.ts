import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../log.ts";
import {
  ensureProgramImage,
  packageRoot,
  programFiles,
  type ProgramContent,
  type ProgramImage,
} from "./program-image.ts";

/** Where gardenadm is in its image, and on machines: all that it needs below one folder, its own Node among it. */
export const GARDENADM_FOLDER = "/opt/gardenadm";

/** gardenadm as an image that nothing runs: machines take the folder out of it. Its tar is in `folder`. */
export async function ensureGardenadmImage(folder: string, log: Logger): Promise<ProgramImage> {
  return await ensureProgramImage((version) => `perennial.dev/gardenadm:${version}`, describeImage, folder, log);
}

async function describeImage(): Promise<ProgramContent> {
  const { files } = await programFiles("gardenadm", GARDENADM_FOLDER);
  const launchers = ["bin/gardenadm", "bin/start"].map((path) => ({
    path: join(GARDENADM_FOLDER, path),
    source: join(packageRoot, path),
    mode: 0o755,
  }));
  const node = {
    path: join(GARDENADM_FOLDER, "node_modules/.bin/node"),
    source: await realpath(process.execPath),
    mode: 0o755,
  };
  return { files: [...launchers, node, ...files], entrypoint: [join(GARDENADM_FOLDER, "bin/gardenadm")] };
}
