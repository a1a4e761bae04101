import { access, constants, open } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { execa } from "execa";
import { satisfies } from "semver";
import type { BinaryPin } from "./pin.ts";

/** The path of a binary in PATH whose own word on its version fits the pin, or undefined. */
export async function findInPath(name: string, pin: BinaryPin): Promise<string | undefined> {
  const path = await findProgram(name);
  if (path === undefined) return undefined;
  const { stdout, stderr } = await execa(path, [...pin.versionArgs], { reject: false, timeout: 10_000 });
  return versionFits(`${stdout}\n${stderr}`, pin) ? path : undefined;
}

/** The path of a binary in PATH that is of exactly the pinned version and needs no libraries, or undefined. */
export async function findPinnedInPath(name: string, pin: BinaryPin): Promise<string | undefined> {
  const path = await findInPath(name, { ...pin, range: pin.version });
  return path !== undefined && (await isStatic(path)) ? path : undefined;
}

/** Whether what a binary says about its version fits the pin; what names no version does not. */
export function versionFits(output: string, pin: Pick<BinaryPin, "range" | "versionPattern">): boolean {
  const at = pin.versionPattern.exec(output);
  const version = at === null ? undefined : /^\d+\.\d+\.\d+/.exec(output.slice(at.index + at[0].length))?.[0];
  return version !== undefined && satisfies(version, pin.range);
}

/** The path of a program in PATH or in the folders that hold administrators' programs, or undefined. */
export async function findProgram(name: string, extraFolders: readonly string[] = []): Promise<string | undefined> {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/sbin", ...extraFolders];
  for (const folder of folders.filter((folder) => folder !== "")) {
    const path = join(folder, name);
    const executable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (executable) return path;
  }
  return undefined;
}

/** True for a 64-bit ELF file without a program header that names an interpreter. */
async function isStatic(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const head = Buffer.alloc(4096);
    await file.read(head, 0, head.length, 0);
    if (head.readUInt32BE(0) !== 0x7f454c46 || head[4] !== 2) return false;
    const [offset, size, count] = [Number(head.readBigUInt64LE(32)), head.readUInt16LE(54), head.readUInt16LE(56)];
    const types = Array.from({ length: count }, (_, index) => offset + index * size)
      .filter((position) => position + 4 <= head.length)
      .map((position) => head.readUInt32LE(position));
    return !types.includes(interpreterHeader);
  } finally {
    await file.close();
  }
}

const interpreterHeader = 3;
