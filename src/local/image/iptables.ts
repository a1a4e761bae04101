import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { findProgram } from "../binary/path.ts";
import { findLibraries } from "./libraries.ts";
import type { ImageFile } from "./tar.ts";

/** The host's iptables with all that it needs in a container: its libraries, its extensions and a shell. */
export async function collectIptables(): Promise<{ files: ImageFile[]; links: Record<string, string> }> {
  const iptables = await findProgram("iptables");
  if (iptables === undefined)
    throw new Error("cannot build images with iptables without it: install the package iptables");
  const program = await realpath(iptables);
  const shell = await realpath("/bin/sh");
  const extensions = await findExtensions();
  const libraries = await findLibraries([program, shell, ...extensions]);
  const files = [program, ...extensions, ...libraries].map((source) => ({ path: source, source, mode: 0o755 }));
  const names = ["iptables", "ip6tables"].flatMap((name) => [name, `${name}-save`, `${name}-restore`]);
  return {
    files: [...files, { path: "/bin/sh", source: shell, mode: 0o755 }],
    links: Object.fromEntries(names.map((name) => [`/usr/local/sbin/${name}`, program])),
  };
}

/** iptables looks for its extensions where it was built to: at the same path in the image. */
async function findExtensions(): Promise<string[]> {
  const folders = ["/usr/lib", ...(await readdir("/usr/lib")).map((entry) => join("/usr/lib", entry)), "/usr/lib64"];
  for (const folder of folders.map((folder) => join(folder, "xtables"))) {
    const entries = await readdir(folder).catch(() => []);
    if (entries.length > 0) return entries.filter((entry) => entry.endsWith(".so")).map((entry) => join(folder, entry));
  }
  throw new Error("cannot build images with iptables: its extensions are not below /usr/lib");
}
