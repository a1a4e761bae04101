import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { cacheDirectory } from "../../src/local/binary/binaries.ts";
import { withLock } from "../../src/local/binary/lock.ts";
import { findProgram } from "../../src/local/binary/path.ts";

/** buildah and podman, which need no daemon, on a storage that holds nothing else. */
export interface Containers {
  /** Runs one of them; what it says goes to this process's standard error, but for what it returns. */
  run(tool: "buildah" | "podman", args: readonly string[]): Promise<string>;
  /** Builds an image from the Dockerfile, or the one in the folder. */
  build(o: { readonly tag: string; readonly folder: string; readonly options?: readonly string[] }): Promise<void>;
  /** Where files may lie while the images are built. */
  readonly folder: string;
}

/**
 * Gives `work` a storage of its own, and takes it away afterwards with all containers and images in it; what a killed run
 * left, too. One at a time on a machine.
 */
export async function withContainers<T>(work: (containers: Containers) => Promise<T>): Promise<T> {
  for (const tool of ["buildah", "podman", "runc", "mmdebstrap"])
    if ((await findProgram(tool)) === undefined)
      throw new Error(`cannot build images without ${tool}: \`apt-get install buildah podman runc mmdebstrap\``);
  const folder = storage();
  return await withLock(`${folder}.lock`, async () => {
    await close(await open(folder));
    const containers = await open(folder);
    try {
      return await work(containers);
    } finally {
      await close(containers);
    }
  });
}

/** Takes away what a killed run has left; nothing is there is fine. */
export async function clearContainers(): Promise<void> {
  const folder = storage();
  if (existsSync(folder)) await withLock(`${folder}.lock`, async () => await close(await open(folder)));
}

const storage = (): string => join(cacheDirectory(), "containers");

/** What buildah and podman are told: their own storage, and the runtime that every cgroup hierarchy suits. */
const settings = (folder: string): Readonly<Record<string, string>> => ({
  "storage.conf": `[storage]\ndriver = "overlay"\nrunroot = "${folder}/run"\ngraphroot = "${folder}/graph"\n`,
  "containers.conf": [
    ...["[engine]", 'runtime = "runc"', 'cgroup_manager = "cgroupfs"', 'events_logger = "file"'],
    ...[`tmp_dir = "${folder}/tmp"`, `volume_path = "${folder}/volumes"`],
    ...["[network]", `network_config_dir = "${folder}/networks"`],
    ...["[containers]", 'log_driver = "k8s-file"', ""],
  ].join("\n"),
});

async function open(folder: string): Promise<Containers> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const [name, text] of Object.entries(settings(folder))) await writeFile(join(folder, name), text);
  const env = {
    CONTAINERS_STORAGE_CONF: join(folder, "storage.conf"),
    CONTAINERS_CONF: join(folder, "containers.conf"),
  };
  const run: Containers["run"] = async (tool, args) => {
    const { stdout } = await execa(tool, args, { env, stdin: "ignore", stderr: ["pipe", "inherit"] });
    return stdout;
  };
  return {
    folder,
    run,
    async build({ tag, folder, options = [] }) {
      await run("buildah", ["build", "--isolation", "chroot", "--layers=false", ...options, "--tag", tag, folder]);
    },
  };
}

async function close({ folder, run }: Containers): Promise<void> {
  await run("podman", ["rm", "--all", "--force", "--time", "10", "--volumes"]);
  for (const path of (await mountsBelow(folder)).reverse()) await execa("umount", ["--lazy", path], { reject: false });
  const [left] = await mountsBelow(folder);
  if (left !== undefined) throw new Error(`cannot remove ${folder}: ${left} is still mounted`);
  await rm(folder, { recursive: true, force: true });
}

async function mountsBelow(folder: string): Promise<string[]> {
  const mounts = await readFile("/proc/self/mounts", "utf8");
  const paths = mounts.split("\n").map((line) => line.split(" ")[1] ?? "");
  return paths.filter((path) => path.startsWith(`${folder}/`));
}
