import { mkdir, open, readdir, readFile, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "../environment/environment.ts";

/**
 * The machine's address in the lower half of the environment's network, the same one each time. A file per address
 * that only one process can make keeps two machines from getting the same.
 */
export async function allocateAddress(env: Environment, machine: string): Promise<string> {
  const dir = addressesDirectory(env);
  await mkdir(dir, { recursive: true });
  const taken = new Set(await readdir(dir));
  for (const address of taken) if ((await readOwner(dir, address)) === machine) return address;
  for (const address of machineAddresses(env)) {
    if (!taken.has(address) && (await claim(join(dir, address), machine))) return address;
  }
  throw new Error(`cannot find an address for machine ${machine}: ${env.network} is used up`);
}

/** Gives the machine's address back. */
export async function releaseAddress(env: Environment, machine: string): Promise<void> {
  const dir = addressesDirectory(env);
  for (const address of await readdir(dir).catch(() => []))
    if ((await readOwner(dir, address)) === machine) await rm(join(dir, address), { force: true });
}

/** Removes the register of addresses if none is taken. */
export async function removeAddresses(env: Environment): Promise<void> {
  await rmdir(addressesDirectory(env)).catch(() => undefined);
}

function addressesDirectory(env: Environment): string {
  return join(env.stateDir, "addresses");
}

/** x.y.0.2 to x.y.127.254: without the gateway and the first and last address of every /24, which look like mistakes. */
function* machineAddresses({ network, gateway }: Environment): Generator<string> {
  const [first, second] = network.split(".");
  for (let third = 0; third < 128; third++)
    for (let fourth = 2; fourth < 255; fourth++) {
      const address = `${first}.${second}.${third}.${fourth}`;
      if (address !== gateway) yield address;
    }
}

async function claim(path: string, machine: string): Promise<boolean> {
  try {
    const file = await open(path, "wx");
    await file.writeFile(machine);
    await file.close();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

async function readOwner(dir: string, address: string): Promise<string> {
  return await readFile(join(dir, address), "utf8").catch(() => "");
}
