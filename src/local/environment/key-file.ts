import { randomBytes } from "node:crypto";
import { mkdir, open, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** A file with one key of 32 bytes, `{"keys": [{"id", "secret"}]}`; made once, as what it encrypts is lost without it. */
export async function ensureKeyFile(file: string): Promise<string> {
  return await makeOnce(file, () => {
    const key = { id: `local-${randomBytes(4).toString("hex")}`, secret: randomBytes(32).toString("base64") };
    return `${JSON.stringify({ keys: [key] }, null, 2)}\n`;
  });
}

/** A file for its owner alone. It is made if it is not there, whole and on the disk before it has its name. */
export async function makeOnce(file: string, content: () => string): Promise<string> {
  if (await exists(file)) return file;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const handle = await open(`${file}.new`, "w", 0o600);
  try {
    await handle.writeFile(content());
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
