import { randomInt } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Where tests take their ports from: below the range out of which Linux gives a port to each outgoing connection (from
 * 32768 on), which would otherwise take one between our look at it and the start of the program that it is for; and
 * below the ports of Services.
 */
const range = { from: 12_000, to: 30_000 } as const;

/**
 * Ports on loopback that no program uses right now, and that no outgoing connection and no other test process will take: a program may be
 * started on its port minutes later.
 */
export async function freePorts(count: number): Promise<number[]> {
  const held: { readonly port: number; readonly server: Server }[] = [];
  while (held.length < count) {
    const port = randomInt(range.from, range.to);
    if (!reserve(port)) continue;
    const server = await listen(port);
    if (server) held.push({ port, server });
  }
  await Promise.all(held.map(({ server }) => new Promise((resolve) => server.close(resolve))));
  return held.map(({ port }) => port);
}

const reservations = join(tmpdir(), "perennial-test-ports");
const reserved = new Set<number>();
process.once("exit", () => {
  for (const port of reserved) rmSync(join(reservations, String(port)), { force: true });
});

/** Whether the port is this process's from now on: a file of its number names who has it, for as long as that lives. */
function reserve(port: number): boolean {
  const file = join(reservations, String(port));
  mkdirSync(reservations, { recursive: true });
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
  } catch {
    if (isAlive(Number(readFileSync(file, { encoding: "utf8", flag: "a+" })))) return false;
    rmSync(file, { force: true }); // of a run that was interrupted; the next try may get it
    return false;
  }
  reserved.add(port);
  return true;
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** A listener on the port; nothing if another has it. */
const listen = (port: number): Promise<Server | undefined> =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(undefined) : reject(error),
    );
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
