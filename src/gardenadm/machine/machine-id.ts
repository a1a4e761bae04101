import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** What systemd calls the machine whose `/` is this folder, for as long as it keeps its disk; empty where it has no name yet. */
export async function machineId(root: string): Promise<string> {
  return (await readFile(join(root, "/etc/machine-id"), "utf8").catch(() => "")).trim();
}
