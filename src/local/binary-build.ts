import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { execa, ExecaError } from "execa";
import { findProgram } from "./binary-path.ts";
import type { BinarySource } from "./binary-release.ts";
import type { BuildPin } from "./versions.ts";

/**
 * Builds a static binary from the Go module registry, which verifies every module against the checksum database.
 * `refused` says why there is no release download, for the sentence that is thrown when building cannot work either.
 */
export async function buildBinary(source: BinarySource, refused: string): Promise<void> {
  const { name, pin, onProgress } = source;
  const go = await findProgram("go", ["/usr/local/go/bin"]);
  if (go === undefined) throw new Error(missing(source, `${refused}, and there is no Go toolchain to build it with`));
  onProgress(`building ${name} ${pin.version} from the Go module registry, some ${pin.build.minutes} min on two cores`);
  const workDir = await mkdtemp(join(dirname(source.file), "build-"));
  try {
    if (pin.build.install === undefined) await buildInModule(go, source, workDir);
    else await installPackage(go, source, pin.build.install, workDir);
  } catch (error) {
    source.signal?.throwIfAborted();
    const output =
      error instanceof ExecaError ? String(error.stderr).trim().split("\n").slice(-3).join(" | ") : String(error);
    throw new Error(missing(source, `${refused}, and go cannot build it (${output})`), { cause: error });
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

/** The go.mod of a module that requires what is built, with the staging modules of `upstream` (a go.mod's text) pinned. */
export function renderGoMod({ require, staging }: Pick<BuildPin, "require" | "staging">, upstream = ""): string {
  const staged = [...upstream.matchAll(/^\s*(?:replace\s+)?(\S+) => \.\/staging\/src\/\S+/gm)].map((match) => match[1]);
  return [
    "module build",
    "",
    "go 1.24.0",
    "",
    ...Object.entries(require).map(([module, version]) => `require ${module} ${version}`),
    ...(staging === undefined ? [] : staged.map((module) => `replace ${module} => ${module} ${staging.version}`)),
    "",
  ].join("\n");
}

async function buildInModule(go: string, source: BinarySource, workDir: string): Promise<void> {
  const { build } = source.pin;
  const upstream = build.staging === undefined ? "" : await readGoMod(go, source, build.staging.module, workDir);
  await writeFile(join(workDir, "go.mod"), renderGoMod(build, upstream));
  await run(
    go,
    ["build", "-trimpath", "-ldflags", linkerFlags(build), "-o", source.file, build.package],
    source,
    workDir,
  );
}

async function readGoMod(go: string, source: BinarySource, module: string, workDir: string): Promise<string> {
  const wanted = `${module}@${source.pin.build.require[module]}`;
  const { stdout } = await run(go, ["mod", "download", "-json", wanted], source, workDir);
  const { GoMod } = JSON.parse(stdout) as { GoMod: string };
  return await readFile(GoMod, "utf8");
}

async function installPackage(go: string, source: BinarySource, version: string, workDir: string): Promise<void> {
  const { build } = source.pin;
  const target = `${build.package}@v${version}`;
  await run(go, ["install", "-trimpath", "-ldflags", linkerFlags(build), target], source, workDir, { GOBIN: workDir });
  await rename(join(workDir, source.name), source.file);
}

async function run(
  go: string,
  args: string[],
  { signal }: BinarySource,
  cwd: string,
  env: Record<string, string> = {},
) {
  return await execa(go, args, {
    cwd,
    env: { CGO_ENABLED: "0", GOFLAGS: "-mod=mod", GOWORK: "off", ...env },
    stdin: "ignore",
    ...(signal === undefined ? {} : { cancelSignal: signal }),
  });
}

function linkerFlags({ ldflags }: BuildPin): string {
  return ["-s -w", ldflags].filter((flags) => flags !== undefined).join(" ");
}

function missing({ name, pin }: BinarySource, why: string): string {
  return (
    `cannot get ${name} ${pin.version}: ${why}. Connect this machine to the network, install Go 1.24 or newer ` +
    `(https://go.dev/dl) where a Go module proxy can be reached, or put ${name} ${pin.range} on PATH.`
  );
}
