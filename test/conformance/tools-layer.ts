import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { ensurePackages } from "../../src/local/binary/packages.ts";
import { findSources, findVersions, unpackPackages, unpackRecipe } from "../../src/local/image/debian.ts";
import { once } from "../../src/local/image/once.ts";

/** What the suite's images have of a distribution: a shell and its tools, what asks servers of all kinds, and two web servers. */
const packages = [
  ...["base-files", "busybox", "bash", "curl", "bind9-dnsutils", "netcat-openbsd", "iproute2", "iperf", "libc-bin"],
  ...["apache2-bin", "nginx"],
] as const;

/**
 * The tar of a root file system that all images of the suite share as their first layer, made from the packages of this host's
 * distribution. One is made for each set of their versions, in a minute. Needs root, and Debian or a child of it.
 */
export async function ensureToolsLayer(cache: string, tell: (message: string) => void): Promise<string> {
  await ensurePackages({ names: ["mmdebstrap"], onProgress: tell });
  const sources = await findSources(tell);
  const key = createHash("sha256").update([...sources, ...(await findVersions(packages))].join("\n"));
  for (const file of [fileURLToPath(import.meta.url), unpackRecipe]) key.update(await readFile(file));
  const layer = join(cache, "images", `tools-of-suite-${key.digest("hex").slice(0, 12)}.tar`);
  await mkdir(dirname(layer), { recursive: true });
  await once(layer, async () => {
    tell(`making the images' root file system of ${packages.length} packages and what they need`);
    const draft = await mkdtemp(join(dirname(layer), ".tools-of-suite-"));
    try {
      await packTools(draft);
      await rename(join(draft, "tar"), layer);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  });
  return layer;

  async function packTools(draft: string): Promise<void> {
    const root = join(draft, "root");
    await unpackPackages(root, { packages, sources, variant: "extract" });
    await linkPrograms(root);
    const archive = ["--create", "--numeric-owner", "--sort=name", `--file=${join(draft, "tar")}`, "--exclude=./dev/*"];
    await execa("tar", [...archive, `--directory=${root}`, "."]);
  }
}

/**
 * Names in /bin what the suite calls there. The shell is Bash: BusyBox's would prefer its own `nc` to that of
 * the package, and it and Dash lose variables whose names are no words.
 */
async function linkPrograms(root: string): Promise<void> {
  await rm(join(root, "bin/sh"), { force: true });
  await symlink("bash", join(root, "bin/sh"));
  await symlink("nc.openbsd", join(root, "bin/nc"));
  const { stdout } = await execa("chroot", [root, "/bin/busybox", "--list"]);
  const there = await readdir(join(root, "bin"));
  for (const name of stdout.split("\n").filter((applet) => applet !== "" && !there.includes(applet)))
    await symlink("busybox", join(root, "bin", name));
}
