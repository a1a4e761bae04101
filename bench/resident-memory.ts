import { readFile } from "node:fs/promises";

/** A process's resident memory, in MB; 0 for one that does not run. */
export async function residentMemory({ pid }: { readonly pid?: number | undefined }): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024);
}
