import { randomBytes } from "node:crypto";
import { open, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "./environment.ts";

/** The file of the keys that seal the environment's ShootStates; made once, for without it they cannot be opened. */
export async function ensureStateKeys({ stateDir }: Pick<Environment, "stateDir">): Promise<string> {
  const file = join(stateDir, "state-keys.json");
  if (await exists(file)) return file;
  const key = { id: `local-${randomBytes(4).toString("hex")}`, secret: randomBytes(32).toString("base64") };
  const handle = await open(`${file}.new`, "w", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify({ keys: [key] }, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.new`, file);
  return file;
}

/** A file that cannot be looked at is not a file that is not there. */
const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      return false;
    },
  );
