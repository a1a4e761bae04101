import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { cacheDirectory } from "../../src/local/binary/binaries.ts";
import { binaries, type BinaryName } from "../../src/local/binary/versions.ts";

/** The path of a pinned binary in the cache; tests never download. */
export async function findBinary(name: BinaryName): Promise<string> {
  const { version } = binaries[name];
  const path = join(cacheDirectory(), "bin", name, version, name);
  try {
    await access(path, constants.X_OK);
    return path;
  } catch (cause) {
    const how = "`perennial local up` fetches it, or builds it where the official release is out of reach";
    throw new Error(`cannot find ${name} ${version} at ${path}: ${how}`, { cause });
  }
}
