import { access, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { cacheDirectory } from "../../src/local/binary/binaries.ts";
import { withContainers, type Containers } from "./containers.ts";

/** An image that is kept as a tar. */
export interface CachedImage {
  /** With its tag. */
  readonly image: string;
  /** The beginning of the tar's file name. */
  readonly name: string;
  /** Changes with what goes into the image. */
  readonly key: string;
  /** Builds it under its name, and throws if it is no good. */
  readonly build: (containers: Containers) => Promise<void>;
}

/** The tar of an image in the cache, which is built unless it is there; one with another key goes. */
export async function cachedTar({ image, name, key, build }: CachedImage): Promise<string> {
  const folder = join(cacheDirectory(), "images");
  const file = `${name}-${key}.tar`;
  const tar = join(folder, file);
  if (await exists(tar)) return tar;
  await mkdir(folder, { recursive: true });
  await withContainers(async (containers) => {
    await build(containers);
    await containers.run("buildah", ["push", image, `docker-archive:${tar}.new:${image}`]);
    await rename(`${tar}.new`, tar);
  });
  const ofName = new RegExp(`^${name}-[0-9a-f]+\\.tar`);
  const old = (await readdir(folder)).filter((entry) => ofName.test(entry) && entry !== file);
  await Promise.all(old.map((entry) => rm(join(folder, entry), { force: true })));
  return tar;
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
