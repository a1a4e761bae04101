import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { findProgram } from "../binary/path.ts";

/** What is told while a root file system is made. */
export type Tell = (message: string) => void;

/** This file: a root file system is made anew when the way to make it changes. */
export const unpackRecipe = fileURLToPath(import.meta.url);

/** The host's own sources of its distribution, without those of others, one line each. */
export async function findSources(tell: Tell): Promise<string[]> {
  const release = await readFile("/etc/os-release", "utf8");
  const distribution = /^ID="?([a-z]+)/m.exec(release)?.[1] ?? "";
  const list = async () => {
    const { stdout } = await execa("apt-get", [
      ...["indextargets", "--format", "$(ORIGIN) deb $(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"],
    ]);
    const lines = stdout.split("\n").filter((line) => line.toLowerCase().startsWith(`${distribution} `));
    return lines.map((line) => line.slice(distribution.length + 1));
  };
  const known = await list();
  if (known.length > 0) return known;
  tell("refreshing the package lists");
  await execa("apt-get", ["update"], { stdin: "ignore" });
  const found = await list();
  if (found.length === 0)
    throw new Error(`cannot make a root file system: apt knows no packages of ${distribution || "this host"}`);
  return found;
}

/** The versions of these packages that would be installed. */
export async function findVersions(packages: readonly string[]): Promise<string[]> {
  const { stdout } = await execa("apt-cache", ["policy", ...packages], { env: { LC_ALL: "C" } });
  const versions = [...stdout.matchAll(/^ {2}Candidate: (.*)$/gm)].map((match) => String(match[1]));
  if (versions.length < packages.length || versions.includes("(none)"))
    throw new Error(`cannot make a root file system: apt does not have all of ${packages.join(", ")}`);
  return versions;
}

/** What is unpacked, and from where. Of "extract", packages are not set up: none of their scripts runs. */
export interface Unpacking {
  readonly packages: readonly string[];
  readonly sources: readonly string[];
  readonly variant: "minbase" | "extract";
}

/** Unpacks these packages and what they need into the folder `root`. */
export async function unpackPackages(root: string, { packages, sources, variant }: Unpacking): Promise<void> {
  const suite = sources[0]?.split(" ")[2] ?? "";
  const mmdebstrap = (await findProgram("mmdebstrap")) ?? "mmdebstrap";
  const unread = ["doc", "man", "locale", "info"].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  const args = ["--quiet", "--mode=root", `--variant=${variant}`, "--format=directory", ...unread];
  await execa(mmdebstrap, [...args, `--include=${packages.join(",")}`, suite, root, ...sources], {
    env: { DEBIAN_FRONTEND: "noninteractive" },
    stdin: "ignore",
  });
}
