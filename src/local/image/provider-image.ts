import { realpath } from "node:fs/promises";
import type { Logger } from "../../log.ts";
import { findProgram } from "../binary/path.ts";
import { baseFiles } from "./images.ts";
import { findLibraries } from "./libraries.ts";
import { ensureProgramImage, programFiles, type ProgramContent, type ProgramImage } from "./program-image.ts";

/** The local provider of a seed as an image, whose tar is in `folder`; built where there is none of this code yet. Needs no Docker. */
export async function ensureProviderImage(folder: string, log: Logger): Promise<ProgramImage> {
  return await ensureProgramImage((version) => `perennial.dev/provider-local:${version}`, describeImage, folder, log);
}

async function describeImage(): Promise<ProgramContent> {
  const node = await realpath(process.execPath);
  const nsupdate = await findProgram("nsupdate");
  if (nsupdate === undefined)
    throw new Error(
      "cannot build the image of provider-local without nsupdate, which changes DNS records: install bind9-dnsutils",
    );
  const libraries = await findLibraries([node, nsupdate]);
  const { files, main } = await programFiles("provider-local", "/perennial");
  return {
    files: [
      ...baseFiles,
      { path: "/usr/local/bin/node", source: node, mode: 0o755 },
      { path: "/usr/local/bin/nsupdate", source: await realpath(nsupdate), mode: 0o755 },
      ...libraries.map((source) => ({ path: source, source, mode: 0o755 })),
      ...files,
    ],
    entrypoint: ["/usr/local/bin/node", "--disable-warning=ExperimentalWarning", "--max-semi-space-size=4", main],
  };
}
