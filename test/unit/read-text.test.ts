import { expect, test } from "vitest";
import { readBytes, readText } from "../../src/read-text.ts";

/** A body of pieces of two bytes that counts those that are taken. */
function bodyOf(pieces: number) {
  const taken = { pieces: 0, ended: false };
  async function* come(): AsyncGenerator<Uint8Array> {
    try {
      for (; taken.pieces < pieces; taken.pieces += 1) yield Buffer.from("ab");
    } finally {
      taken.ended = true;
    }
  }
  return { body: come(), taken };
}

const tooLong = () => new Error("is too long");

test("a body of as many bytes as it may have is read whole", async () => {
  expect(await readText(bodyOf(3).body, { most: 6, tooLong })).toBe("ababab");
  expect(await readText(bodyOf(3).body, { most: 6, drain: 0, tooLong })).toBe("ababab");
  await expect(readBytes(bodyOf(3).body, { most: 5, tooLong })).rejects.toThrow("is too long");
});

test.each([
  ["as many bytes as are drained", 5, 10, 5],
  ["more bytes than are drained", 100, 10, 5],
  ["more bytes than it may, without anything drained", 100, undefined, 2],
])("a longer body of %s is refused, and read no further", async (_, pieces, drain, read) => {
  const { body, taken } = bodyOf(pieces);
  const limit = { most: 4, tooLong, ...(drain && { drain }) };
  await expect(readBytes(body, limit)).rejects.toThrow("is too long");
  expect(taken).toEqual({ pieces: read, ended: true });
});
