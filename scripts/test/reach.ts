import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

/**
 * Returns the test files that a change of `changed` can affect. A file depends on what it imports and on every file or folder of the
 * repository that it names, relative to itself or to the root: programs that tests start, manifests, docs. Paths are relative to `root`.
 */
export function testsReachedBy(
  changed: readonly string[],
  { root, tests }: { root: string; tests: readonly string[] },
): string[] {
  const everything = changed.some((file) => reachesAll.includes(file));
  if (everything) return [...tests];
  const namedBy = createNames(root);
  return tests.filter((test) => {
    const seen = new Set([test]);
    for (const file of seen) {
      if (changed.some((one) => one === file || one.startsWith(`${file}/`))) return true;
      for (const next of namedBy(file)) seen.add(next);
    }
    return false;
  });
}

/** Files that affect every test. */
const reachesAll = ["package.json", "package-lock.json", "tsconfig.json", "vitest.config.ts"];

/** Returns the paths that a file names; each file is read once. */
function createNames(root: string): (file: string) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (file) => {
    const before = known.get(file);
    if (before !== undefined) return before;
    const names = file.endsWith(".ts") ? namesIn(root, file) : [];
    known.set(file, names);
    return names;
  };
}

function namesIn(root: string, file: string): string[] {
  const texts = readFileSync(join(root, file), "utf8").matchAll(/["'`]([^"'`\s$]{2,200})["'`]/g);
  const found = [...texts].flatMap(([, text = ""]) => {
    const place = text.startsWith(".") ? resolve(root, dirname(file), text) : resolve(root, text);
    const path = relative(root, place);
    if (path === "" || path.startsWith("..") || path.startsWith("node_modules") || !existsSync(place)) return [];
    return statSync(place).isFile() || text.includes("/") || path === "docs" ? [path] : [];
  });
  return [...new Set(found)];
}
