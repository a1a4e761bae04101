import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../log.ts";
import { once } from "./once.ts";
import { writeImageTar, type ImageSpec } from "./tar.ts";

/** An image as machines and registries get it. */
export interface Image {
  /** With registry and tag, as pods name it. */
  readonly name: string;
  /** The OCI layout tar on the host; its name changes with its content. */
  readonly tar: string;
}

/** Builds the image into `folder`, unless it is there as described. */
export async function buildImage(image: ImageSpec, folder: string, log: Logger): Promise<Image> {
  const tar = join(folder, `${image.name.replace(/[/:]/g, "_")}-${await contentKey(image)}.tar`);
  await once(tar, async () => {
    await writeImageTar(image, tar);
    log.info({ image: image.name, tar }, "image built");
  });
  return { name: image.name, tar };
}

/** Changes when the image would: with its description, or with the size or time of a file in it. */
async function contentKey(image: ImageSpec): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify(image));
  const sources = image.files.flatMap((file) => ("source" in file ? [file.source] : []));
  for (const source of image.base === undefined ? sources : [image.base, ...sources]) {
    const { size, mtimeMs } = await stat(source);
    hash.update(` ${size} ${mtimeMs}`);
  }
  return hash.digest("hex").slice(0, 12);
}
