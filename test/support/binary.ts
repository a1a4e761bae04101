import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { cacheDirectory, cachePath } from "../../src/local/binary/binaries.ts";
import { binaries, type BinaryName } from "../../src/local/binary/versions.ts";

/** The path of a pinned binary in the cache; tests never download. */
export async function findBinary(name: BinaryName): Promise<string> {
  const pin = binaries[name];
  const path = join(cacheDirectory(), cachePath(name, pin));
  try {
    await access(path, constants.X_OK);
    return path;
  } catch (cause) {
    const how = "`perennial local up` fetches it, or builds it where the official release is out of reach";
    throw new Error(`cannot find ${name} ${pin.version} at ${path}: ${how}`, { cause });
  }
}
