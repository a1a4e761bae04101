import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { projectFolder } from "../support/pages.ts";

/** A copy of the project's files, as they are in the working tree; packages are those of the project. The caller removes it. */
export function copyTree(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "perennial-contradictions-"));
  const listed = execFileSync(
    "git",
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"],
    {
      cwd: projectFolder,
      encoding: "utf8",
      maxBuffer: 2 ** 26,
    },
  );
  const deleted = execFileSync("git", ["ls-files", "-z", "--deleted"], { cwd: projectFolder, encoding: "utf8" });
  const gone = new Set(deleted.split("\0"));
  for (const file of listed.split("\0").filter((path) => path !== "" && !gone.has(path))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(projectFolder, file), join(folder, file), { verbatimSymlinks: true });
  }
  symlinkSync(join(projectFolder, "node_modules"), join(folder, "node_modules"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Changes a text that stands once in a file, until the work is done. Throws where it does not stand there once. */
export async function whileChanged<T>(
  path: string,
  { find, put }: { readonly find: string; readonly put: string },
  work: () => Promise<T>,
): Promise<T> {
  const before = readFileSync(path, "utf8");
  const [head, tail, ...more] = before.split(find);
  if (head === undefined || tail === undefined || more.length > 0)
    throw new Error(`${path} has ${more.length > 0 ? "several times" : "nowhere"} ${JSON.stringify(find)}`);
  writeFileSync(path, head + put + tail);
  try {
    return await work();
  } finally {
    writeFileSync(path, before);
  }
}
