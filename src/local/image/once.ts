import { access } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { withLock } from "../binary/lock.ts";

/** Makes the file or folder unless it is there; of several processes one does. */
export async function once(file: string, make: () => Promise<void>): Promise<void> {
  const missing = async () =>
    await access(file).then(
      () => false,
      () => true,
    );
  if (!(await missing())) return;
  await withLock(join(dirname(file), "locks", basename(file)), async () => {
    if (await missing()) await make();
  });
}
