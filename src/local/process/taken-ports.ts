import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withLock } from "../binary/lock.ts";

/** The ports that an environment has given out, by their owners; in `ports.json` of its folder. */
export type PortTable = Readonly<Record<string, number>>;

/** The ports of one environment; none where there is no such environment. */
export async function readPorts(stateDir: string): Promise<PortTable> {
  const text = await readFile(portsFile(stateDir), "utf8").catch(() => "{}");
  return JSON.parse(text) as PortTable;
}

/** Where an environment keeps them. */
export const portsFile = (stateDir: string): string => join(stateDir, "ports.json");

/**
 * Runs `action` with the ports that all other environments of this machine have given out, whether anything listens there yet or
 * not. One environment chooses at a time, also where users differ: between a choice and a server that listens lie minutes.
 */
export async function withTakenPorts<T>(
  stateDir: string,
  action: (taken: ReadonlySet<number>) => Promise<T>,
): Promise<T> {
  if ((await mkdir(registry, { recursive: true })) !== undefined) await chmod(registry, 0o1777);
  return await withLock(join(registry, "lock"), async () => {
    await writeFile(entryOf(stateDir), stateDir);
    return await action(await portsOfOthers(stateDir));
  });
}

/** Forgets an environment that is taken down. */
export const forgetPorts = (stateDir: string): Promise<void> => rm(entryOf(stateDir), { force: true });

/** A folder that all users of the machine share. */
const registry = join(tmpdir(), "perennial-ports");

const entryOf = (stateDir: string): string =>
  join(registry, `${createHash("sha256").update(stateDir).digest("hex").slice(0, 16)}.environment`);

async function portsOfOthers(own: string): Promise<ReadonlySet<number>> {
  const taken = new Set<number>();
  for (const file of (await readdir(registry)).filter((name) => name.endsWith(".environment"))) {
    const stateDir = await readFile(join(registry, file), "utf8").catch(() => own);
    if (stateDir === own) continue;
    const ports = Object.values(await readPorts(stateDir));
    ports.forEach((port) => taken.add(port));
    // It was taken down, or has not come so far; in that case its next claim enters it again.
    if (ports.length === 0) await rm(join(registry, file), { force: true }).catch(() => undefined);
  }
  return taken;
}
