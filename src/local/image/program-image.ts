import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../log.ts";
import { readVersion } from "../../package.ts";
import { hashCode } from "../process/code.ts";
import type { Image } from "./build.ts";
import { once } from "./once.ts";
import { writeImageTar, type ImageSpec } from "./tar.ts";

/** The image of a program of ours. */
export interface ProgramImage extends Image {
  /** Changes with the code in the image; its name does not. */
  readonly code: string;
}

/** What an image of ours is made of, beside its name. */
export type ProgramContent = Omit<ImageSpec, "name">;

/** The image of this name, given the package's version, whose tar is in `folder`; built where there is none of this code yet. Needs no Docker. */
export async function ensureProgramImage(
  named: (version: string) => string,
  describe: () => Promise<ProgramContent>,
  folder: string,
  log: Logger,
): Promise<ProgramImage> {
  const name = named(await readVersion());
  const code = await hashCode();
  await mkdir(folder, { recursive: true });
  const prefix = `${name.replace(/[/:]/g, "_")}-`;
  const tar = join(folder, `${prefix}${code}.tar`);
  await once(tar, async () => {
    await writeImageTar({ name, ...(await describe()) }, tar);
    log.info({ image: name, tar }, "image built");
    await removeOldBuilds(folder, prefix);
  });
  return { name, tar, code };
}

/** How many builds of an image are kept, and for how long each at least, in ms: another process may be reading it. */
const KEPT = 3;
const LEAST_AGE = 600_000;

/** Each change of what is in it makes another archive, of hundreds of MB: removes the old ones whose names begin so. */
export async function removeOldBuilds(folder: string, prefix: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.startsWith(prefix) && name.endsWith(".tar"));
  const timeOf = async (name: string) => (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? Infinity;
  const found = await Promise.all(names.map(async (name) => ({ name, at: await timeOf(name) })));
  const old = found.toSorted((one, other) => other.at - one.at).slice(KEPT);
  for (const { name, at } of old) if (at < Date.now() - LEAST_AGE) await rm(join(folder, name), { force: true });
}
