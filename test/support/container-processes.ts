import { readdir, readFile } from "node:fs/promises";

/** The ids of the processes of this program in containers of the machine with this cgroup, as this host sees them. */
export async function findContainerProcesses(cgroup: string, program: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map(async (pid) => ((await isOf(pid, cgroup, program)) ? [pid] : [])));
  return found.flat();
}

/** A machine's containers are in cgroups below its own. A process that ends meanwhile is none. */
async function isOf(pid: number, cgroup: string, program: string): Promise<boolean> {
  const read = async (file: string) => await readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
  const [command] = (await read("cmdline")).split("\0");
  return command?.split("/").at(-1) === program && (await read("cgroup")).includes(`:${cgroup}/`);
}
