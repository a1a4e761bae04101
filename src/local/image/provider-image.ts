import { mkdir, readFile, realpath } from "node:fs/promises";
import { extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Logger } from "../../log.ts";
import { findProgram } from "../binary/path.ts";
import { hashCode } from "../process/code.ts";
import type { Image } from "./build.ts";
import { baseFiles } from "./images.ts";
import { findLibraries } from "./libraries.ts";
import { once } from "./once.ts";
import { collectProgram } from "./program-files.ts";
import { writeImageTar, type ImageSpec } from "./tar.ts";

/** The local provider's image. */
export interface ProviderImage extends Image {
  /** Changes with the code in the image; its name does not. */
  readonly code: string;
}

/** The local provider of a seed as an image, whose tar is in `folder`; built where there is none of this code yet. Needs no Docker. */
export async function ensureProviderImage(folder: string, log: Logger): Promise<ProviderImage> {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { readonly version: string };
  const name = `perennial.dev/provider-local:${version}`;
  const code = await hashCode();
  await mkdir(folder, { recursive: true });
  const tar = join(folder, `${name.replace(/[/:]/g, "_")}-${code}.tar`);
  await once(tar, async () => {
    await writeImageTar(await describeImage(name), tar);
    log.info({ image: name, tar }, "image built");
  });
  return { name, tar, code };
}

/** The folder of the package; this file is in its `src` or its `dist`. */
const root = fileURLToPath(new URL("../../..", import.meta.url));

async function describeImage(name: string): Promise<ImageSpec> {
  const node = await realpath(process.execPath);
  const nsupdate = await findProgram("nsupdate");
  if (nsupdate === undefined)
    throw new Error(
      `cannot build the image ${name} without nsupdate, which changes DNS records: install bind9-dnsutils`,
    );
  const main = relative(
    root,
    fileURLToPath(new URL(`../../provider-local/main${extname(import.meta.url)}`, import.meta.url)),
  );
  const libraries = await findLibraries([node, nsupdate]);
  return {
    name,
    files: [
      ...baseFiles,
      { path: "/usr/local/bin/node", source: node, mode: 0o755 },
      { path: "/usr/local/bin/nsupdate", source: await realpath(nsupdate), mode: 0o755 },
      ...libraries.map((source) => ({ path: source, source, mode: 0o755 })),
      ...(await collectProgram(root, main, "/perennial")),
    ],
    entrypoint: [
      "/usr/local/bin/node",
      "--disable-warning=ExperimentalWarning",
      "--max-semi-space-size=4",
      `/perennial/${main}`,
    ],
  };
}
