import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { readWatch, type WatchEvent } from "../../../src/kube/watch-stream.ts";

async function read(text: string): Promise<WatchEvent<never>[]> {
  const events: WatchEvent<never>[] = [];
  const bytes = Readable.from([Buffer.from(text)]);
  for await (const event of readWatch<never>("watch Widget", bytes, "https://one.test")) events.push(event);
  return events;
}

test("half an event at the end of a broken connection is dropped", async () => {
  expect(await read('{"type":"BOOKMARK","object":{}}\n{"type":"ADD')).toHaveLength(1);
});

test("an error event is thrown", async () => {
  const status = { kind: "Status", code: 410, reason: "Expired", message: "too old resource version: 1 (9)" };
  await expect(read(`${JSON.stringify({ type: "ERROR", object: status })}\n`)).rejects.toMatchObject({
    message: "cannot watch Widget: too old resource version: 1 (9)",
    status: 410,
    reason: "Expired",
  });
});
