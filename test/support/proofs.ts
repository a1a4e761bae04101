import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectFolder } from "./pages.ts";

/** A promise of a page, and what is said to prove it. */
export interface Row {
  /** The heading above the row's table. */
  readonly section: string;
  readonly promise: string;
  readonly proof: string;
}

/** A test that a row names; `name` is as its source has it, such as `"%s is refused"`. */
export interface NamedTest {
  readonly path: string;
  readonly name: string;
}

/** The rows of all tables of a page, without their heads: what is promised is in the first cell, its proof in the last one. */
export function rowsOf(text: string): Row[] {
  return text.split(/^## /m).flatMap((part) => {
    const [section = "", ...lines] = part.split("\n");
    return lines.filter((line) => line.startsWith("| ")).flatMap((line) => rowOf(section, line) ?? []);
  });
}

function rowOf(section: string, line: string): Row | undefined {
  const [promise = "", , proof = ""] = line
    .slice(1, -1)
    .split(" | ")
    .map((cell) => cell.trim());
  return /^(-+|GEP-1|GEP-28|Rule)$/.test(promise) ? undefined : { section, promise, proof };
}

/** The tests that a proof names, in its order. */
export function testsOf(proof: string): NamedTest[] {
  return [...proof.matchAll(/`(test\/[^`]+\.test\.ts)`: "([^"]+)"/g)].map(([, path = "", name = ""]) => ({
    path,
    name,
  }));
}

/** What is wrong with a proof: it names a test that is not there, or gives no reason why there is none. */
export function faultsOf(proof: string): string[] {
  const tests = testsOf(proof);
  if (tests.length === 0)
    return /^(Still to come|Not built): \S/.test(proof) ? [] : [`no test and no reason: ${proof}`];
  return tests.flatMap(({ path, name }) => {
    if (!existsSync(join(projectFolder, path))) return [`there is no file ${path}`];
    return hasTest(path, name) ? [] : [`${path} has no test that is named "${name}"`];
  });
}

/** Whether a test file has the test, or runs it from a file of tests that it shares with others. */
function hasTest(path: string, name: string): boolean {
  const source = readFileSync(join(projectFolder, path), "utf8");
  const shared = [...source.matchAll(/from "(\.\.\/support\/[\w-]+-tests\.ts)"/g)].map(([, file = ""]) =>
    readFileSync(join(projectFolder, dirname(path), file), "utf8"),
  );
  return ['"', "`"].some((quote) => [source, ...shared].some((text) => text.includes(quote + name + quote)));
}
