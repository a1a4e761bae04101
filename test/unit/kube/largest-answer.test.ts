import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { createTransport, type Transport } from "../../../src/kube/transport.ts";
import { readWatch } from "../../../src/kube/watch-stream.ts";

const MIB = 2 ** 20;

/** A client with a limit, and how many bytes its API server got rid of. That server answers each question with half a gigabyte. */
async function askEndless(status: number): Promise<{ readonly transport: Transport; readonly sent: () => number }> {
  let sent = 0;
  const server = createServer((_, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    const flood = Readable.from(Array.from({ length: 512 }, () => Buffer.alloc(MIB, " ")));
    flood.on("data", (chunk: Buffer) => void (sent += chunk.length));
    flood.pipe(response);
    response.on("close", () => flood.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const credentials = { server: `http://127.0.0.1:${port}`, current: async () => ({ tls: {} }), renew: () => {} };
  const transport = createTransport({ credentials, userAgent: "test", bounds: { largestAnswer: 2 * MIB } });
  onTestFinished(async () => {
    await transport.close();
    server.close();
  });
  return { transport, sent: () => sent };
}

test.each([200, 500])("a client reads no endless answer to its end, of status %i", async (status) => {
  const { transport, sent } = await askEndless(status);
  await expect(transport.call({ what: "list Nodes", path: "/" })).rejects.toThrow(
    /list Nodes.*longer than 2097152 bytes/,
  );
  expect(sent()).toBeLessThan(64 * MIB);
});

test("a client reads no endless line of a watch", async () => {
  let read = 0;
  async function* flood() {
    for (; read < 512; read += 1) yield Buffer.alloc(MIB, " ");
  }
  await expect(readWatch("watch Node", flood(), "https://one.test").next()).rejects.toThrow("longer than");
  expect(read).toBeLessThan(64);
});
