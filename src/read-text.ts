/**
 * Reads a body. If it is longer than `most` bytes, reads and drops up to `drain` bytes and throws the error that `tooLong` returns. Throwing
 * before the end of a body destroys its stream, so a server must read to the end: otherwise the connection is reset while the sender is
 * still writing, and the response is lost.
 */
export async function readBytes(
  body: AsyncIterable<Uint8Array>,
  { most, drain = most, tooLong }: BodyLimit,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size <= most) pieces.push(piece);
    else pieces.length = 0;
    if (size > Math.max(most, drain)) break;
  }
  if (size > most) throw tooLong();
  return Buffer.concat(pieces);
}

/** The text of a body, which {@link readBytes} reads. */
export const readText = async (body: AsyncIterable<Uint8Array>, limit: BodyLimit): Promise<string> =>
  (await readBytes(body, limit)).toString("utf8");

/** How long a body may be, and the error for one that is longer. */
interface BodyLimit {
  readonly most: number;
  /** The number of bytes to read of a longer body; defaults to `most`. */
  readonly drain?: number;
  readonly tooLong: () => Error;
}
