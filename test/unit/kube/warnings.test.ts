import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createTransport } from "../../../src/kube/transport.ts";

test("a client tells what the API server warns of in a write, as the server says it, and is silent about reads", async () => {
  const server = createServer((_, response) => {
    response.setHeader("warning", ['299 - "spec.foo: unknown field"', '299 - "not \\"this\\" one"', "odd"]);
    response.setHeader("content-type", "application/json").end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const told: string[] = [];
  const transport = createTransport({
    credentials: {
      server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      current: async () => ({ tls: {} }),
      renew: () => {},
    },
    userAgent: "test",
    onWarning: (text) => void told.push(text),
  });
  onTestFinished(async () => {
    await transport.close();
    server.close();
  });
  await transport.call({ what: "read", path: "/" });
  expect(told).toEqual([]);
  await transport.call({ what: "write", path: "/", method: "PATCH", body: {} });
  expect(told).toEqual(["spec.foo: unknown field", 'not "this" one', "odd"]);
});
