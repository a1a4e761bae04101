import { mkdir, realpath, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { Run } from "./commands.ts";
import { copyWhole, exists, isFile } from "./whole-file.ts";

/** A file in a container image. */
export interface ImageFile {
  readonly image: string;
  readonly filePathInImage: string;
}

/** Where it is to be: at a path, with a mode; `mount` is a folder in which images are looked at, one at a time. */
export interface ImageFileTarget {
  readonly path: string;
  readonly mode: number;
  readonly mount: string;
}

/**
 * Copies a file out of an image, which is pulled only where containerd does not have it: through the mirrors of
 * /etc/containerd/certs.d, as upstream's agent does. What a killed attempt has left mounted is unmounted.
 */
export async function extractFile(
  ctr: Run,
  { image, filePathInImage }: ImageFile,
  { path, mode, mount }: ImageFileTarget,
  signal?: AbortSignal,
): Promise<void> {
  await pull(ctr, image, signal);
  if (await exists(mount)) await unmount(ctr, mount); // a killed attempt
  await mkdir(mount, { recursive: true, mode: 0o700 });
  await ctr(["images", "mount", image, mount], signal);
  try {
    await copyWhole(await findIn(mount, filePathInImage, image), path, mode);
  } catch (error) {
    await unmount(ctr, mount);
    throw error;
  }
  await ctr(["images", "unmount", "--rm", mount]);
  await rmdir(mount);
}

/** containerd's client of version 2 asks for the manifests of all platforms, which a mirror need not have. */
async function pull(ctr: Run, image: string, signal: AbortSignal | undefined): Promise<void> {
  const known = await ctr(["images", "list", "--quiet", `name==${image}`], signal);
  if (known.trim() !== "") return;
  const help = await ctr(["images", "pull", "--help"], signal);
  const metadata = help.includes("--skip-metadata") ? ["--skip-metadata"] : [];
  await ctr(["images", "pull", "--hosts-dir", "/etc/containerd/certs.d", ...metadata, image], signal);
}

/** Fails where nothing is mounted, which is as it should be. */
async function unmount(ctr: Run, mount: string): Promise<void> {
  await ctr(["images", "unmount", "--rm", mount]).catch(() => "");
}

/** A link of the image may lead out of it, to a file of the machine. */
async function findIn(mount: string, path: string, image: string): Promise<string> {
  const inside = `${await realpath(mount)}/`;
  const found = await realpath(join(mount, path)).catch(() => undefined);
  if (found === undefined || !found.startsWith(inside) || !(await isFile(found)))
    throw new Error(`image ${image} has no file ${path}; correct the path in it, or the image`);
  return found;
}
