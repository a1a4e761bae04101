import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectFolder } from "./pages.ts";

/** A promise of a page, and what is said to prove it. */
export interface Row {
  readonly promise: string;
  readonly proof: string;
}

/** The rows of all tables of a page, without their heads: what is promised is in the first cell, its proof in the last one. */
export function rowsOf(text: string): Row[] {
  const lines = text.split("\n").filter((line) => line.startsWith("| "));
  const cells = lines.map((line) =>
    line
      .slice(1, -1)
      .split(" | ")
      .map((cell) => cell.trim()),
  );
  return cells.flatMap(([promise = "", , proof = ""]) =>
    /^(-+|GEP-1|Rule)$/.test(promise) ? [] : [{ promise, proof }],
  );
}

/** What is wrong with a proof: it names a test that is not there, or gives no reason why there is none. */
export function faultsOf(proof: string): string[] {
  const tests = [...proof.matchAll(/`(test\/[^`]+\.test\.ts)`: "([^"]+)"/g)];
  if (tests.length === 0)
    return /^(Still to come|Not built): \S/.test(proof) ? [] : [`no test and no reason: ${proof}`];
  return tests.flatMap(([, path = "", name = ""]) => {
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
