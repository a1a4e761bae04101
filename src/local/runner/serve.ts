import { mkdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { text } from "node:stream/consumers";
import { dirname } from "node:path";
import { answer, type World } from "./answer.ts";
import { SOCKET } from "./places.ts";

/** Answers `systemctl` from now on: words as a JSON array in, an Answer in JSON out, one in each connection. */
export async function serve(world: World): Promise<void> {
  mkdirSync(dirname(SOCKET), { recursive: true });
  rmSync(SOCKET, { force: true });
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    connection.on("error", () => connection.destroy());
    void text(connection)
      .then(async (words) => connection.end(JSON.stringify(await answer(world, JSON.parse(words) as string[]))))
      .catch(() => connection.destroy());
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(SOCKET, resolve);
  await promise;
}
