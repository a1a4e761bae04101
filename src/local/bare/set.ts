import { join } from "node:path";
import { withLock } from "../binary/lock.ts";
import { ensureEnvironment, findEnvironment } from "../environment/file.ts";
import type { Environment } from "../environment/environment.ts";
import { lockFile, removeStateFolder } from "../environment/state-folder.ts";
import { removeBridge } from "../network/bridge.ts";

/** The set of bare machines of this name, or undefined where there is none. Throws where an environment has that name. */
export async function findSet(name: string): Promise<Environment | undefined> {
  const found = await findEnvironment(placeOf(name));
  if (found !== undefined && !found.bare)
    throw new Error(`cannot use ${name} for a set of machines: an environment has that name; use another one`);
  return found;
}

/**
 * Runs `work` in the set, which is made where there is none: a network of its own that no environment and no other set has. The
 * set is not taken away meanwhile.
 */
export async function withSet<T>(name: string, work: (set: Environment) => Promise<T>): Promise<T> {
  const place = placeOf(name);
  return await withLock(lockFile(place), async () => {
    await findSet(name);
    return await work(await ensureEnvironment({ ...place, bare: true }));
  });
}

/** Runs `work` in the set, if there is one, and takes the set away with its network where `work` answers that it is empty. */
export async function inSet(name: string, work: (set: Environment) => Promise<"empty" | void>): Promise<void> {
  if ((await findSet(name)) === undefined) return;
  await withLock(lockFile(placeOf(name)), async () => {
    const set = await findSet(name);
    if (set === undefined || (await work(set)) !== "empty") return;
    await removeBridge(set);
    await removeStateFolder(set);
  });
}

/** Always beside the environments of root: each chooses a network that its neighbours do not have. */
const placeOf = (name: string) => ({ name, stateDir: join("/var/lib/perennial", name) });
