import { randomInt } from "node:crypto";
import { createServer, type Server } from "node:net";

/**
 * Where tests take their ports from: below the range out of which Linux gives a port to each outgoing connection (from
 * 32768 on), which would otherwise take one between our look at it and the start of the program that it is for; and
 * below the ports of Services.
 */
const range = { from: 12_000, to: 30_000 } as const;

/** Ports on loopback that nobody uses right now, and that no outgoing connection will take. */
export async function freePorts(count: number): Promise<number[]> {
  const held: { readonly port: number; readonly server: Server }[] = [];
  while (held.length < count) {
    const port = randomInt(range.from, range.to);
    const server = await listen(port);
    if (server) held.push({ port, server });
  }
  await Promise.all(held.map(({ server }) => new Promise((resolve) => server.close(resolve))));
  return held.map(({ port }) => port);
}

/** A listener on the port; nothing if another has it. */
const listen = (port: number): Promise<Server | undefined> =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(undefined) : reject(error),
    );
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
