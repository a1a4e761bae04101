import { createHash } from "node:crypto";
import { access, chmod, constants, copyFile, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Logger } from "../../log.ts";
import { buildBinary } from "./build.ts";
import { findInPath, findPinnedInPath } from "./path.ts";
import { downloadBinary, type BinarySource } from "./release.ts";
import { withLock } from "./lock.ts";
import type { BinaryPin } from "./pin.ts";
import { binaries, type BinaryName } from "./versions.ts";
import type { VariablesOf } from "../../variables.ts";

/** How binaries are got. `onProgress` is told, in one line, what is being downloaded or built. */
export interface BinaryOptions {
  readonly log: Logger;
  readonly onProgress?: (message: string) => void;
  /** Exactly the pinned version, static and in the cache: what machines and images hold. */
  readonly pinned?: boolean;
  readonly cacheDir?: string;
  readonly signal?: AbortSignal;
}

/**
 * The paths of the named binaries: from the cache, from PATH when the version fits, else the official release with its
 * published checksum, else built from the Go module registry. Throws one sentence that says what is missing and how to get it.
 */
export async function ensureBinaries<N extends BinaryName>(
  names: readonly N[],
  options: BinaryOptions,
): Promise<Record<N, string>> {
  const unreachable = new Map<string, string>();
  const paths: [N, string][] = [];
  for (const name of names) paths.push([name, await ensureBinary(name, unreachable, options)]);
  return Object.fromEntries(paths) as Record<N, string>;
}

/**
 * Where a binary is in the cache, relative to it. Builds of one version with other parts are other binaries: clones of
 * different commits share the cache.
 */
export function cachePath(name: string, { version, build: { parts } }: BinaryPin): string {
  const id = parts && createHash("sha256").update(parts.join()).digest("hex").slice(0, 8);
  return join("bin", name, id === undefined ? version : `${version}-${id}`, name);
}

/** The folder that clones share: `PERENNIAL_CACHE_DIR`, else `~/.cache/perennial`. */
export function cacheDirectory(): string {
  const { PERENNIAL_CACHE_DIR }: VariablesOf<"local environment"> = process.env;
  return PERENNIAL_CACHE_DIR ?? join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "perennial");
}

/** Where the pinned version of a binary is once it was got: what asks for it later finds it there. */
export const pinnedPath = (name: BinaryName, cacheDir = cacheDirectory()): string =>
  join(cacheDir, cachePath(name, binaries[name]));

async function ensureBinary(
  name: BinaryName,
  unreachable: Map<string, string>,
  options: BinaryOptions,
): Promise<string> {
  const { cacheDir = cacheDirectory(), pinned = false, onProgress } = options;
  const pin = binaries[name];
  const path = pinnedPath(name, cacheDir);
  if (await isExecutable(path)) return path;
  const found = pinned ? undefined : await findInPath(name, pin);
  if (found !== undefined) return found;
  return await withLock(
    join(cacheDir, "locks", `${name}-${pin.version}`),
    async () => {
      if (!(await isExecutable(path))) await install({ name, path, unreachable, options });
      return path;
    },
    { onWait: () => onProgress?.(`waiting for another process that gets ${name} ${pin.version}`) },
  );
}

interface Installation {
  readonly name: BinaryName;
  readonly path: string;
  readonly unreachable: Map<string, string>;
  readonly options: BinaryOptions;
}

async function install({ name, path, unreachable, options }: Installation): Promise<void> {
  const { log, onProgress = () => {}, signal } = options;
  const pin = binaries[name];
  const target = dirname(path);
  const folder = dirname(target);
  await mkdir(folder, { recursive: true });
  await removeLeftovers(folder);
  const workDir = await mkdtemp(join(folder, ".new-"));
  const source = { name, pin, file: join(workDir, name), log, onProgress, ...(signal === undefined ? {} : { signal }) };
  try {
    const own = await findPinnedInPath(name, pin);
    if (own === undefined) await fetchBinary(source, unreachable);
    else await copyFile(own, source.file);
    await chmod(source.file, 0o755);
    await rm(target, { recursive: true, force: true });
    await rename(workDir, target);
    log.info({ binary: name, version: pin.version, path }, "binary installed");
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

async function fetchBinary(source: BinarySource, unreachable: Map<string, string>): Promise<void> {
  const refused = await downloadBinary(source, unreachable);
  if (refused !== undefined) await buildBinary(source, refused);
}

/** Removes what a killed predecessor left; no other process works in the folder while we hold the lock. */
async function removeLeftovers(folder: string): Promise<void> {
  const leftovers = (await readdir(folder)).filter((entry) => entry.startsWith(".new-"));
  await Promise.all(leftovers.map((entry) => rm(join(folder, entry), { recursive: true, force: true })));
}

async function isExecutable(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
