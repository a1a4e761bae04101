import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { execa } from "execa";
import type { Containers } from "./containers.ts";

/** The folder of the npm that runs this script. */
export function npmFolder(): string {
  const { npm_execpath: npm } = process.env;
  if (npm === undefined) throw new Error("cannot tell which npm goes into the image: run this with `npm run`");
  return dirname(dirname(npm));
}

/** Makes an image of Debian's packages, and returns its folder of files; `more` is what its Dockerfile adds. */
export async function buildDebian(
  containers: Containers,
  o: { readonly tag: string; readonly packages: readonly string[]; readonly files?: Files; readonly more?: string },
): Promise<void> {
  const { tag, packages, files = {}, more = "" } = o;
  const folder = join(containers.folder, "context");
  await mkdir(folder);
  try {
    const root = join(folder, "debian.tar");
    await execa(
      "mmdebstrap",
      [
        "--quiet",
        "--variant=essential",
        `--include=${packages.join(",")}`,
        "--aptopt=APT::Sandbox::User root",
        suite,
        root,
      ],
      { stdin: "ignore", stderr: "inherit" },
    );
    for (const [name, source] of Object.entries(files)) await copy(source, join(folder, name));
    await writeFile(join(folder, "Dockerfile"), `FROM scratch\nADD debian.tar /\n${more}`);
    await containers.build({ tag, folder });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Files and folders of this machine, by their names beside the Dockerfile. */
type Files = Readonly<Record<string, string>>;

/** The release of Debian that images are made of. */
const suite = "bookworm";

async function copy(source: string, target: string): Promise<void> {
  await cp(source, target, { recursive: true, dereference: true });
}
