import { access, readdir, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { execa } from "execa";
import { findProgram } from "../binary/path.ts";
import type { ImageFile } from "./tar.ts";

/** The host's iptables with all that it needs in a container: its libraries, its extensions and a shell. */
export async function collectIptables(): Promise<{ files: ImageFile[]; links: Record<string, string> }> {
  const iptables = await findProgram("iptables");
  if (iptables === undefined)
    throw new Error("cannot build the kube-proxy image without iptables: install the package iptables");
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
  throw new Error("cannot build the kube-proxy image: the extensions of iptables are not below /usr/lib");
}

/** The shared libraries and the loader, at the paths by which the loader finds them. */
async function findLibraries(programs: readonly string[]): Promise<string[]> {
  const { stdout } = await execa("ldd", programs, { reject: false });
  const found = [...stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path ?? "");
  const libraries = [...new Set(found)].sort();
  await Promise.all(libraries.map((path) => access(path)));
  if (libraries.every((path) => !basename(path).startsWith("libc.")))
    throw new Error("cannot find the libraries of iptables with ldd");
  return libraries;
}
