import fc from "fast-check";
import { expect, test } from "vitest";
import { readWatch, type WatchEvent } from "../../src/kube/watch-stream.ts";

test("events come out whole wherever the network cuts the bytes", async () => {
  const events = ["ä", "日本", "\u{1f600}", "plain"].map((name) => ({ type: "ADDED", object: { metadata: { name } } }));
  const text = events.map((event) => `${JSON.stringify(event)}\n`).join("");
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat()), async (cuts) => {
      expect(await read(text, cuts)).toEqual(events);
    }),
  );
});

async function* chunksOf(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  let start = 0;
  for (const end of ends) {
    yield bytes.subarray(start, end);
    start = end;
  }
}

async function read(text: string, cuts: readonly number[]): Promise<WatchEvent<never>[]> {
  const events: WatchEvent<never>[] = [];
  for await (const event of readWatch<never>("watch Widget", chunksOf(Buffer.from(text), cuts), "https://one.test"))
    events.push(event);
  return events;
}
