/**
 * The bytes of a body, as it comes in pieces. Of one that is longer than `most` bytes, up to `drain` bytes are read and dropped, and what
 * `tooLong` makes is thrown. To throw before the end of a body ends the stream that its pieces come from: a server has to read to the end, or
 * the connection is reset while the sender still writes, and the answer is lost.
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
  /** How much is read of a longer one, in bytes: `most` unless told. */
  readonly drain?: number;
  readonly tooLong: () => Error;
}
