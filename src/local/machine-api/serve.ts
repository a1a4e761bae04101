import { chmod, mkdir, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { dirname } from "node:path";
import type { Logger } from "../../log.ts";
import type { Machines } from "../machine/machines.ts";
import { calls, type Call } from "./calls.ts";

/** The host's machines, and where they are asked for. */
export interface MachineServer {
  readonly machines: Machines;
  readonly socket: string;
  readonly log: Logger;
}

/**
 * Serves the host's machines on a socket that root alone may open: each call is a POST with its arguments as a list. A call
 * goes on when its caller dies; each may be repeated.
 */
export async function serveMachines({ machines, socket, log }: MachineServer): Promise<{ stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    const reply = (status: number, answer: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer ?? null));
    answerTo(machines, request).then(
      (answer) => reply(200, answer),
      (error: unknown) => {
        log.warn({ call: request.url, err: error }, "call failed");
        reply(500, { message: error instanceof Error ? error.message : String(error) });
      },
    );
  });
  await mkdir(dirname(socket), { recursive: true, mode: 0o700 });
  await chmod(dirname(socket), 0o700);
  await rm(socket, { force: true }); // a server that was killed leaves it
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(socket, resolve));
  return { stop: () => close(server) };
}

async function answerTo(machines: Machines, request: IncomingMessage): Promise<unknown> {
  const name = request.url?.slice(1) ?? "";
  if (!isCall(name)) throw new Error(`there is no call ${name}`);
  const args = JSON.parse(await readBody(request)) as unknown[];
  const call = machines[name] as (...args: unknown[]) => Promise<unknown>;
  return await call(...args);
}

const isCall = (name: string): name is Call => Object.hasOwn(calls, name);

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** Calls that are being answered are finished first. */
const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
