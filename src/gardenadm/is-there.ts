import { access } from "node:fs/promises";

/** Whether a file is there. */
export async function isThere(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}
