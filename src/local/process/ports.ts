import { connect, createServer } from "node:net";
import type { Environment } from "../environment/environment.ts";
import { replaceFile } from "../replace-file.ts";
import { portsFile, readPorts, withTakenPorts, type PortTable } from "./taken-ports.ts";

/** A port that a process wants to listen on. */
export interface PortClaim {
  /** Who listens, such as `garden/kube-apiserver`. */
  readonly owner: string;
  readonly host: string;
  /** The port where it is free; any other one when there is none or it is taken. */
  readonly preferred?: number;
  /** The owner runs already: its port counts as taken, by the right one. */
  readonly running: boolean;
}

/**
 * Gives out the ports of one environment: to each owner the port that it had before, unless another program uses it, and to
 * none a port that another environment of this machine has given out.
 */
export function createPorts(environment: Pick<Environment, "stateDir">): {
  claim(claim: PortClaim): Promise<number>;
  list(): Promise<PortTable>;
} {
  const { stateDir } = environment;
  const claim = async ({ owner, host, preferred, running }: PortClaim): Promise<number> =>
    await withTakenPorts(stateDir, async (taken) => {
      const ports = await readPorts(stateDir);
      const known = ports[owner];
      if (known !== undefined && (running || (!taken.has(known) && (await isFree(host, known))))) return known;
      const others = new Set([
        ...taken,
        ...Object.entries(ports).flatMap(([name, one]) => (name === owner ? [] : [one])),
      ]);
      const port = await findFree(host, preferred, others);
      const text = `${JSON.stringify({ ...ports, [owner]: port }, undefined, 2)}\n`;
      await replaceFile(portsFile(stateDir), text, 0o644);
      return port;
    });
  return { claim, list: () => readPorts(stateDir) };
}

/** Whether a server accepts connections there within a second. */
export async function accepts(host: string, port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1_000 });
    const answer = (accepted: boolean) => {
      socket.destroy();
      resolve(accepted);
    };
    socket
      .once("connect", () => answer(true))
      .once("error", () => answer(false))
      .once("timeout", () => answer(false));
  });
}

async function findFree(host: string, preferred: number | undefined, others: ReadonlySet<number>): Promise<number> {
  if (preferred !== undefined && !others.has(preferred) && (await isFree(host, preferred))) return preferred;
  for (let attempt = 0; attempt < 20; attempt++) {
    const port = await listenOnce(host, 0);
    if (port !== undefined && !others.has(port)) return port;
  }
  throw new Error(`cannot find a free port on ${host}`);
}

async function isFree(host: string, port: number): Promise<boolean> {
  return (await listenOnce(host, port)) !== undefined;
}

/** The port that could be listened on, or undefined when it is taken. */
async function listenOnce(host: string, port: number): Promise<number | undefined> {
  const server = createServer();
  return await new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE" || error.code === "EACCES") resolve(undefined);
      else reject(error);
    });
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : undefined));
    });
  });
}
