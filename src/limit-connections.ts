import type { Server, Socket } from "node:net";

/**
 * Ends the oldest of more connections than `most`, for servers whose callers are done in no time: a flood of connections that
 * stay costs little memory, and ends with itself. With `until`, a connection no longer counts after that event. `endAll` ends
 * those that count.
 */
export function limitConnections(server: Server, most: number, until?: "secureConnection"): { endAll(): void } {
  const counted = new Map<string, Socket>();
  server.on("connection", (socket: Socket) => {
    const name = nameOf(socket);
    counted.set(name, socket);
    socket.once("close", () => counted.delete(name));
    const [oldest] = counted.values();
    if (counted.size > most) oldest?.destroy();
  });
  if (until !== undefined) server.on(until, (socket: Socket) => counted.delete(nameOf(socket)));
  return { endAll: () => counted.forEach((socket) => socket.destroy()) };
}

const nameOf = ({ remoteAddress = "", remotePort = 0 }: Socket): string => `${remoteAddress}:${remotePort}`;
