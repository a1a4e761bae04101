import { pack } from "tar-stream";

/** A file of a tar; its mode is 0644 unless told otherwise. */
export interface PackedFile {
  readonly name: string;
  readonly content: string | Buffer;
  readonly mode?: number;
}

/** The bytes of a tar of these files: the same for the same files, as all are of one time. */
export async function packFiles(files: readonly PackedFile[]): Promise<Buffer> {
  const tar = pack();
  for (const { name, content, mode = 0o644 } of files) tar.entry({ name, mode, mtime: new Date(0) }, content);
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
