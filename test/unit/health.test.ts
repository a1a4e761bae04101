import { once } from "node:events";
import { connect } from "node:net";
import { expect, it } from "vitest";
import { serveHealth } from "../../src/health.ts";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-ports.ts";

it("reports the health of a process whose port is flooded with connections that ask nothing", async () => {
  const [port = 0] = await freePorts(1);
  const health = await serveHealth({ port, ready: () => true });
  const strangers = Array.from({ length: 150 }, () =>
    connect({ host: "127.0.0.1", port }).on("error", () => undefined),
  );
  await Promise.all(strangers.map((socket) => once(socket, "connect")));
  await eventually(() => expect(strangers.filter(({ destroyed }) => destroyed)).toHaveLength(50));
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  for (const socket of strangers) socket.destroy();
  await health.stop();
});
