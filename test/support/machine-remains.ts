import { readdir, readFile } from "node:fs/promises";
import { execa } from "execa";
import type { Environment } from "../../src/local/environment/environment.ts";

/** Whatever there is on the host of one machine, or of the whole environment with its bridge and rules: names, paths, lines. */
export async function findRemains(env: Environment, machine = ""): Promise<string[]> {
  const all = machine === "";
  const mounts = await readFile("/proc/self/mounts", "utf8");
  return [
    ...linesWith(await output("ip", ["netns", "list"]), `${env.name}.${machine}`),
    ...(all ? linesWith(await output("ip", ["-o", "link"]), env.bridge) : []),
    ...(all ? linesWith(await output("iptables-save"), `perennial-${env.name} `) : []),
    ...linesWith(mounts, `${env.stateDir}/machines/${machine}`),
    ...(await findGroups(all ? env.name : `${env.name}/${machine}`)),
    ...(await entries(`${env.stateDir}/machines`)).filter((name) => all || name === machine),
  ];
}

async function findGroups(group: string): Promise<string[]> {
  const paths = (await entries("/sys/fs/cgroup")).map((hierarchy) => `/sys/fs/cgroup/${hierarchy}/perennial/${group}`);
  const found = await Promise.all(paths.map(async (path) => ((await entries(path)).length > 0 ? [path] : [])));
  return found.flat();
}

async function entries(directory: string): Promise<string[]> {
  return await readdir(directory).catch(() => []);
}

async function output(command: string, args: readonly string[] = []): Promise<string> {
  return (await execa(command, args)).stdout;
}

function linesWith(text: string, part: string): string[] {
  return text.split("\n").filter((line) => line.includes(part));
}
