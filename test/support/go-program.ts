import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { execa } from "execa";
import { cacheDirectory } from "../../src/local/binary/binaries.ts";
import { findProgram } from "../../src/local/binary/path.ts";

/** Builds test/support/go/<name>.go, which uses Go's standard library only, once for each version of it; returns the program's path. */
export async function buildGoProgram(name: string): Promise<string> {
  const source = join(import.meta.dirname, "go", `${name}.go`);
  return await build(name, [source], source, { GO111MODULE: "off", GOFLAGS: "" });
}

/** The same of the module in test/support/<name>, which requires others at the versions of its go.mod. */
export async function buildGoModule(name: string): Promise<string> {
  const folder = join(import.meta.dirname, name);
  const files = (await readdir(folder)).toSorted().map((file) => join(folder, file));
  return await build(name, files, ".", { GOFLAGS: "-mod=readonly", GOWORK: "off" }, folder);
}

async function build(
  name: string,
  files: readonly string[],
  what: string,
  environment: Readonly<Record<string, string>>,
  cwd?: string,
): Promise<string> {
  const hash = createHash("sha256");
  for (const file of files) hash.update(await readFile(file));
  const folder = join(cacheDirectory(), "test-programs");
  const program = join(folder, `${name}-${hash.digest("hex").slice(0, 12)}`);
  if (await isThere(program)) return program;
  await mkdir(folder, { recursive: true });
  const built = `${program}.${randomUUID()}`;
  const env = { CGO_ENABLED: "0", ...environment };
  const go = (await findProgram("go", ["/usr/local/go/bin"])) ?? "go";
  await execa(go, ["build", "-trimpath", "-o", built, what], { env, ...(cwd !== undefined && { cwd }) });
  await rename(built, program);
  return program;
}

const isThere = async (file: string): Promise<boolean> =>
  await readFile(file).then(
    () => true,
    () => false,
  );

/** A program that answers each line of its input with a line of JSON. */
export interface LineProgram {
  ask(line: string): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts such a program; one question is asked at a time. */
export function startLineProgram(program: string): LineProgram {
  const child = spawn(program, [], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(line) {
      child.stdin.write(`${line}\n`);
      const answer = await lines.next();
      if (answer.done === true) throw new Error(`${program} has ended`);
      return JSON.parse(answer.value) as unknown;
    },
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}
