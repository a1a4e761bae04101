import { rename, rm, writeFile } from "node:fs/promises";

/** Writes a file whole or not at all: who reads it meanwhile finds what was there. Its owner alone may read it unless told otherwise. */
export async function replaceFile(file: string, content: string, mode = 0o600): Promise<void> {
  const draft = `${file}.new`;
  await rm(draft, { force: true }); // one of a process that died may have another mode
  await writeFile(draft, content, { mode });
  await rename(draft, file);
}
