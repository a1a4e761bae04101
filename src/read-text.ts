/**
 * The bytes of a body, as it comes in pieces. Of one that is longer than `most` bytes no more is read, and what `tooLong` makes is thrown; to
 * throw ends the stream that the pieces come from.
 */
export async function readBytes(body: AsyncIterable<Uint8Array>, { most, tooLong }: BodyLimit): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > most) throw tooLong();
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** The text of a body, which {@link readBytes} reads. */
export const readText = async (body: AsyncIterable<Uint8Array>, limit: BodyLimit): Promise<string> =>
  (await readBytes(body, limit)).toString("utf8");

/** How long a body may be, and the error for one that is longer. */
interface BodyLimit {
  readonly most: number;
  readonly tooLong: () => Error;
}
