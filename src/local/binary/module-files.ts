import { copyFile, mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { cacheDirectory } from "./binaries.ts";
import { withLock } from "./lock.ts";
import { findProgram } from "./path.ts";

/** Folders of a Go module that hold what a program of it goes with, such as definitions and roles. */
export interface ModuleFiles {
  readonly module: string;
  readonly version: string;
  /** Relative to the module; files in folders below them are left out. */
  readonly folders: readonly string[];
}

/**
 * The folder in the cache that has these folders of the module below it. What is not there yet comes from the Go module
 * registry, checked against the checksum database. Throws one sentence that says what is missing and how to get it.
 */
export async function ensureModuleFiles(
  { module, version, folders }: ModuleFiles,
  { cacheDir = cacheDirectory(), signal }: { readonly cacheDir?: string; readonly signal?: AbortSignal } = {},
): Promise<string> {
  const path = join(cacheDir, "modules", `${module}@${version}`);
  const isThere = async () => (await Promise.all(folders.map((folder) => isFolder(join(path, folder))))).every(Boolean);
  if (await isThere()) return path;
  await withLock(join(cacheDir, "locks", `${module.replaceAll("/", "-")}-${version}`), async () => {
    if (await isThere()) return;
    const source = await download(`${module}@v${version}`, signal);
    await mkdir(dirname(path), { recursive: true });
    const work = await mkdtemp(join(dirname(path), ".new-"));
    try {
      for (const folder of folders) await copyFiles(join(source, folder), join(work, folder));
      await rm(path, { recursive: true, force: true });
      await rename(work, path);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  });
  return path;
}

async function download(target: string, signal: AbortSignal | undefined): Promise<string> {
  const go = await findProgram("go", ["/usr/local/go/bin"]);
  if (go === undefined)
    throw new Error(`cannot get ${target}: there is no Go toolchain; install it (https://go.dev/dl)`);
  try {
    const { stdout } = await execa(go, ["mod", "download", "-json", target], {
      env: { GOFLAGS: "-mod=mod", GOWORK: "off" },
      stdin: "ignore",
      ...(signal === undefined ? {} : { cancelSignal: signal }),
    });
    return (JSON.parse(stdout) as { Dir: string }).Dir;
  } catch (cause) {
    signal?.throwIfAborted();
    throw new Error(`cannot get ${target}: go cannot download it; connect this machine to a Go module proxy`, {
      cause,
    });
  }
}

/** The module cache is read-only, and so would a copy of its folders be. */
async function copyFiles(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true }))
    if (entry.isFile()) await copyFile(join(from, entry.name), join(to, entry.name));
}

const isFolder = async (path: string): Promise<boolean> =>
  await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
