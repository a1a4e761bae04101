import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { extract } from "tar-stream";

/** A file of an archive. */
export interface Entry {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** To be read during the visit, or never. */
  readonly content: Readable;
}

/** Visits the files of a tar one after the other, in its order. */
export async function eachEntry(tar: Readable, visit: (entry: Entry) => Promise<void>): Promise<void> {
  const entries = extract();
  entries.on("entry", ({ name, size = 0, type }, stream, next) => {
    const content = Readable.from(stream);
    const visited = type === "file" ? visit({ path: name.replace(/^\.\//, ""), size, content }) : Promise.resolve();
    visited.then(() => content.resume()).then(() => next(), next);
  });
  await pipeline(tar, entries);
}

/** All that a stream gives. */
export async function readWhole(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
