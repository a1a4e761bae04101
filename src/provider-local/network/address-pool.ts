import { randomUUID } from "node:crypto";
import { link, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Addresses, each of which is handed out once among all processes of the host. */
export interface AddressPool {
  /** The owner's address, the same one each time; `preferred` if it is free and in the pool. */
  claim(owner: string, preferred?: string): Promise<string>;
  /** Gives back what the owner has; nothing is success. */
  release(owner: string): Promise<string | undefined>;
}

/** A pool kept as one file per address, which only one process can make, in a directory that all of them share. */
export function createAddressPool(directory: string, addresses: () => Iterable<string>): AddressPool {
  /** A link appears with its content already in it: no crash leaves an address without an owner. */
  const take = async (address: string, owner: string): Promise<boolean> => {
    const draft = join(directory, `.${randomUUID()}`);
    await writeFile(draft, owner);
    try {
      await link(draft, join(directory, address));
      return true;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
      throw error;
    } finally {
      await rm(draft, { force: true });
    }
  };

  const listTaken = async () => (await readdir(directory)).filter((name) => !name.startsWith("."));

  const find = async (owner: string): Promise<string | undefined> => {
    for (const address of await listTaken()) {
      if ((await readFile(join(directory, address), "utf8").catch(() => "")) === owner) return address;
    }
    return undefined;
  };

  return {
    async claim(owner, preferred) {
      await mkdir(directory, { recursive: true });
      const own = await find(owner);
      if (own !== undefined) return own;
      const taken = new Set(await listTaken());
      const all = [...addresses()];
      const candidates = preferred !== undefined && all.includes(preferred) ? [preferred, ...all] : all;
      for (const address of candidates) if (!taken.has(address) && (await take(address, owner))) return address;
      throw new Error(`cannot find an address for ${owner}: all ${all.length} are taken`);
    },
    async release(owner) {
      await mkdir(directory, { recursive: true });
      const address = await find(owner);
      if (address !== undefined) await rm(join(directory, address), { force: true });
      return address;
    },
  };
}
