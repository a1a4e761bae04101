import type { Server } from "node:https";
import type { Socket } from "node:net";

/**
 * Ends the connection that has waited longest where more than `most` wait for their next request, or for the rest of its body. Each takes
 * some 60 kB; a connection whose request is judged does not count.
 */
export function limitWaitingConnections(server: Server, most: number): void {
  const waiting = new Set<Socket>();
  const wait = (socket: Socket): void => {
    waiting.delete(socket);
    if (socket.destroyed) return;
    waiting.add(socket); // behind all others
    const [longest] = waiting;
    if (waiting.size <= most || longest === undefined) return;
    waiting.delete(longest); // its close comes later than others that begin to wait in this turn
    longest.destroy();
  };
  server.on("secureConnection", (socket) => {
    socket.once("close", () => waiting.delete(socket));
    wait(socket);
  });
  server.on("request", (request, response) => {
    const { socket } = request;
    wait(socket);
    request.once("end", () => response.closed || waiting.delete(socket)); // of a request that is not read, the end comes after the answer
    response.once("close", () => wait(socket));
  });
}
