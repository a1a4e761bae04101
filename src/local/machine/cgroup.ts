import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A mounted cgroup hierarchy: one per controller in version 1, one for all in version 2. */
interface Hierarchy {
  readonly path: string;
  readonly version: 1 | 2;
  readonly controllers: readonly string[];
}

/**
 * Makes the cgroup in every hierarchy and returns the `cgroup.procs` files to join it by. Processes join its leaf
 * `init`, because in version 2 a group that has groups with controllers below it may hold no processes of its own.
 */
export async function createCgroup(cgroup: string): Promise<string[]> {
  return await createLeaf(`${cgroup}/init`);
}

/** Makes a cgroup that has no others below it, with all above it, and returns the `cgroup.procs` files to join it by. */
export async function createLeaf(leaf: string): Promise<string[]> {
  const hierarchies = await findHierarchies();
  for (const hierarchy of hierarchies) {
    for (const group of withParents(leaf)) {
      await mkdir(join(hierarchy.path, group), { recursive: true });
      if (hierarchy.controllers.includes("cpuset")) await inheritCpuset(join(hierarchy.path, group));
      if (hierarchy.version === 2) await delegate(join(hierarchy.path, dirname(group)));
    }
  }
  return hierarchies.map(({ path }) => join(path, leaf, "cgroup.procs"));
}

/** Sends a signal to all that runs in the cgroup and below it. */
export async function signalCgroup(cgroup: string, signal: NodeJS.Signals): Promise<void> {
  const members = (await findHierarchies()).map(async ({ path }) => await membersBelow(join(path, cgroup)));
  for (const pid of new Set((await Promise.all(members)).flat())) kill(pid, signal);
}

/** Lets all that is frozen in the cgroup and below it go on: no signal ends a process that version 1 has frozen. */
export async function thawCgroup(cgroup: string): Promise<void> {
  for (const { path, controllers } of await findHierarchies())
    if (controllers.includes("freezer")) await thawGroup(join(path, cgroup));
}

/** Kills what still runs in the cgroup and removes it with all below it from every hierarchy, the deepest first. */
export async function removeCgroup(cgroup: string): Promise<void> {
  await thawCgroup(cgroup);
  for (const { path } of await findHierarchies()) await removeGroup(join(path, cgroup));
}

/** Removes what `createCgroup` made above a group, as far as nothing else is in it. */
export async function removeEmptyCgroup(cgroup: string): Promise<void> {
  for (const { path } of await findHierarchies()) await rmdir(join(path, cgroup)).catch(() => undefined);
}

async function findHierarchies(): Promise<Hierarchy[]> {
  const mounts = (await readFile("/proc/self/mounts", "utf8")).split("\n").map((line) => line.split(" "));
  return mounts.flatMap(([, path = "", type, options = ""]): Hierarchy[] => {
    if (!path.startsWith("/sys/fs/cgroup")) return [];
    if (type === "cgroup") return [{ path, version: 1, controllers: options.split(",") }];
    return type === "cgroup2" ? [{ path, version: 2, controllers: [] }] : [];
  });
}

function withParents(group: string): string[] {
  const parts = group.split("/").filter((part) => part !== "");
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** A new version 1 cpuset is empty, and nothing can run in it. */
async function inheritCpuset(group: string): Promise<void> {
  for (const file of ["cpuset.cpus", "cpuset.mems"]) {
    const own = (await readFile(join(group, file), "utf8")).trim();
    if (own === "") await writeFile(join(group, file), await readFile(join(dirname(group), file), "utf8"));
  }
}

/** Hands down the controllers one by one: one that cannot be handed down must not cost us the others. */
async function delegate(parent: string): Promise<void> {
  const controllers = (await readFile(join(parent, "cgroup.controllers"), "utf8")).split(/\s+/).filter((name) => name);
  for (const name of controllers)
    await writeFile(join(parent, "cgroup.subtree_control"), `+${name}`).catch(() => undefined);
}

async function thawGroup(group: string): Promise<void> {
  const entries = await readdir(group, { withFileTypes: true }).catch(() => []);
  await writeFile(join(group, "freezer.state"), "THAWED").catch(() => undefined);
  for (const entry of entries) if (entry.isDirectory()) await thawGroup(join(group, entry.name));
}

async function removeGroup(group: string): Promise<void> {
  const entries = await readdir(group, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return;
  for (const entry of entries) if (entry.isDirectory()) await removeGroup(join(group, entry.name));
  for (let attempt = 0; ; attempt++) {
    await killMembers(group);
    try {
      return await rmdir(group);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
      if (attempt === 100)
        throw new Error(`cannot remove cgroup ${group}: processes in it do not end`, { cause: error });
      await sleep(50);
    }
  }
}

async function killMembers(group: string): Promise<void> {
  for (const pid of await membersOf(group)) kill(pid, "SIGKILL");
}

async function membersBelow(group: string): Promise<number[]> {
  const entries = await readdir(group, { withFileTypes: true }).catch(() => []);
  const below = entries.filter((entry) => entry.isDirectory()).map(({ name }) => membersBelow(join(group, name)));
  return [...(await membersOf(group)), ...(await Promise.all(below)).flat()];
}

async function membersOf(group: string): Promise<number[]> {
  const members = await readFile(join(group, "cgroup.procs"), "utf8").catch(() => "");
  return members
    .split("\n")
    .filter((line) => line !== "" && line !== "0")
    .map(Number);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself in the meantime.
  }
}
