import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { execa, ExecaError } from "execa";
import { findProgram } from "./path.ts";
import type { BinarySource } from "./release.ts";
import type { BuildPin } from "./pin.ts";

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
    const run = createGo(go, workDir, source.signal);
    if (pin.build.install === undefined) await buildInModule(run, source, workDir);
    else await installPackage(run, source, workDir);
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
export function renderGoMod(
  { go = oldestGo, require, staging }: Pick<BuildPin, "go" | "require" | "staging">,
  upstream = "",
): string {
  const staged = [...upstream.matchAll(/^\s*(?:replace\s+)?(\S+) => \.\/staging\/src\/\S+/gm)].map((match) => match[1]);
  return [
    "module build",
    "",
    `go ${go}`,
    "",
    ...Object.entries(require).map(([module, version]) => `require ${module} ${version}`),
    ...(staging === undefined ? [] : staged.map((module) => `replace ${module} => ${module} ${staging.version}`)),
    "",
  ].join("\n");
}

/** A program that is no more than another's `Main`, with the parts of it that are wanted. */
export function renderMain(program: string, parts: readonly string[]): string {
  const imports = [`\tprogram "${program}"`, ...parts.map((part) => `\t_ "${part}"`)];
  return ["package main", "", "import (", ...imports, ")", "", "func main() { program.Main() }", ""].join("\n");
}

type Go = (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<string>;

function createGo(go: string, cwd: string, signal: AbortSignal | undefined): Go {
  return async (args, env = {}) => {
    const { stdout } = await execa(go, args, {
      cwd,
      env: { CGO_ENABLED: "0", GOFLAGS: "-mod=mod", GOWORK: "off", ...env },
      stdin: "ignore",
      ...(signal === undefined ? {} : { cancelSignal: signal }),
    });
    return stdout;
  };
}

async function buildInModule(run: Go, { pin: { build }, file }: BinarySource, workDir: string): Promise<void> {
  const upstream = build.staging === undefined ? "" : await readGoMod(run, build, build.staging.module);
  await writeFile(join(workDir, "go.mod"), renderGoMod(build, upstream));
  if (build.parts !== undefined) await writeFile(join(workDir, "main.go"), renderMain(build.package, build.parts));
  const target = build.parts === undefined ? build.package : ".";
  const command = build.tests === undefined ? ["build"] : ["test", "-c"];
  await run([...command, "-trimpath", "-ldflags", linkerFlags(build), "-o", file, target]);
}

async function readGoMod(run: Go, { require }: BuildPin, module: string): Promise<string> {
  const { GoMod } = JSON.parse(await run(["mod", "download", "-json", `${module}@${require[module]}`])) as {
    GoMod: string;
  };
  return await readFile(GoMod, "utf8");
}

async function installPackage(
  run: Go,
  { name, pin: { build, version }, file }: BinarySource,
  workDir: string,
): Promise<void> {
  const target = `${build.package}@v${version}`;
  await run(["install", "-trimpath", "-ldflags", linkerFlags(build), target], { GOBIN: workDir });
  await rename(join(workDir, name), file);
}

function linkerFlags({ ldflags }: BuildPin): string {
  return ["-s -w", ldflags].filter((flags) => flags !== undefined).join(" ");
}

function missing({ name, pin }: BinarySource, why: string): string {
  return (
    `cannot get ${name} ${pin.version}: ${why}. Connect this machine to the network, install Go ${pin.build.go ?? oldestGo} or newer ` +
    `(https://go.dev/dl) where a Go module proxy can be reached, or put a static ${name} ${pin.version} on PATH.`
  );
}

/** What the modules of Kubernetes, etcd and Temporal accept. */
const oldestGo = "1.24.0";
