import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { GARDENADM_IMAGE } from "../../api/names.ts";
import type { Logger } from "../../log.ts";
import { packageRoot } from "../../package.ts";
import { pinnedPath } from "../binary/binaries.ts";
import { bundlePrograms } from "./program-files.ts";
import { ensureProgramImage, type ProgramContent, type ProgramImage } from "./program-image.ts";
import type { ImageFile } from "./tar.ts";

/** Where gardenadm is in its image, and on machines: all that it needs below one folder, its own Node among it. */
export const GARDENADM_FOLDER = "/opt/gardenadm";

/** gardenadm as an image that nothing runs: machines take the folder out of it. Its tar is in `folder`. */
export async function ensureGardenadmImage(folder: string, log: Logger): Promise<ProgramImage> {
  return await ensureProgramImage(() => GARDENADM_IMAGE, describeImage, folder, log);
}

async function describeImage(): Promise<ProgramContent> {
  const programs = await bundlePrograms(PROGRAMS, GARDENADM_FOLDER);
  const launchers = ["bin/gardenadm", "bin/start"].map((path) => ({
    path: join(GARDENADM_FOLDER, path),
    source: join(packageRoot, path),
    mode: 0o755,
  }));
  const binaries = [
    { path: "node_modules/.bin/node", source: await realpath(process.execPath) },
    { path: "bin/helm", source: pinnedPath("helm") },
  ].map(({ path, source }) => ({ path: join(GARDENADM_FOLDER, path), source, mode: 0o755 }));
  const entrypoint = [join(GARDENADM_FOLDER, "bin/gardenadm")];
  const name = { path: join(GARDENADM_FOLDER, ".image"), text: GARDENADM_IMAGE, mode: 0o644 };
  return { files: [name, ...launchers, ...binaries, ...(await manifests()), ...programs], entrypoint };
}

/** The command line, and what units of its machines run. */
const PROGRAMS = ["gardenadm", "gardenadm/node-agent", "gardenadm/renewal"];

/** What it applies in clusters. */
async function manifests(): Promise<ImageFile[]> {
  const files = ["seed/priority-classes.yaml", "options/resource-manager/rbac.yaml"];
  for (const folder of ["crds", "seed/crds"])
    files.push(...(await readdir(join(packageRoot, "deploy", folder))).map((name) => join(folder, name)));
  return files.sort().map((file) => {
    const path = join("deploy", file);
    return { path: join(GARDENADM_FOLDER, path), source: join(packageRoot, path), mode: 0o644 };
  });
}
