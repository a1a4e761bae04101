/**
 * The text of a body, as it comes in pieces. Of one that is longer than `most` bytes no more is read, and what `tooLong` makes is thrown; to
 * throw ends the stream that the pieces come from.
 */
export async function readText(
  body: AsyncIterable<Uint8Array>,
  { most, tooLong }: { readonly most: number; readonly tooLong: () => Error },
): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > most) throw tooLong();
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}
