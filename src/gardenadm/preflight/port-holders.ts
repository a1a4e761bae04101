import { readdir, readlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { textOf } from "./readable.ts";

/** The processes that listen at these ports, as `/proc` knows them. */
export async function holdersOf(root: string, ports: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const sockets = await listeningSockets(root, new Set(ports));
  const holders = new Map<number, string>();
  if (sockets.size === 0) return holders;
  const pids = (await readdir(join(root, "/proc")).catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const pid of pids)
    for (const port of await portsOfProcess(join(root, "/proc", pid), sockets))
      holders.set(port, `${await programOf(root, pid)}, process ${pid}`);
  return holders;
}

/** TCP_LISTEN, as the kernel's tables have it. */
const LISTENING = "0A";

/** The port of each socket, by the name that descriptors bear. */
async function listeningSockets(root: string, ports: ReadonlySet<number>): Promise<ReadonlyMap<string, number>> {
  const sockets = new Map<string, number>();
  for (const table of ["tcp", "tcp6"])
    for (const line of (await textOf(root, `/proc/net/${table}`)).split("\n").slice(1)) {
      const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
      const port = Number.parseInt(local.slice(local.lastIndexOf(":") + 1), 16);
      if (state === LISTENING && ports.has(port)) sockets.set(`socket:[${inode}]`, port);
    }
  return sockets;
}

async function portsOfProcess(folder: string, sockets: ReadonlyMap<string, number>): Promise<number[]> {
  const descriptors = await readdir(join(folder, "fd")).catch(() => []);
  const links = await Promise.all(descriptors.map((one) => readlink(join(folder, "fd", one)).catch(() => "")));
  return links.flatMap((link) => sockets.get(link) ?? []);
}

async function programOf(root: string, pid: string): Promise<string> {
  const [program = ""] = (await textOf(root, `/proc/${pid}/cmdline`)).split("\0");
  return basename(program);
}
