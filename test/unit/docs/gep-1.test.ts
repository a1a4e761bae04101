import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectFolder, readPage } from "../../support/pages.ts";

const rows = rowsOf(readPage("docs/gep-1.md"));

it("The page about GEP-1 has rows", () => {
  expect(rows.length).toBeGreaterThan(100);
});

it.each(rows)("GEP-1's row $promise has a test that exists, or a reason why it has none", ({ proof }) => {
  const tests = [...proof.matchAll(/`(test\/[^`]+\.test\.ts)`: "([^"]+)"/g)];
  if (tests.length === 0) expect(proof).toMatch(/^(Still to come|Not built): \S/);
  for (const [, path = "", name = ""] of tests) {
    expect(existsSync(join(projectFolder, path)), `there is no file ${path}`).toBe(true);
    expect(hasTest(path, name), `${path} has no test that is named "${name}"`).toBe(true);
  }
});

interface Row {
  readonly promise: string;
  readonly proof: string;
}

/** The rows of all tables of a page: what is promised is in the first cell, its proof in the last one. */
function rowsOf(text: string): Row[] {
  const lines = text.split("\n").filter((line) => line.startsWith("| "));
  const cells = lines.map((line) =>
    line
      .slice(1, -1)
      .split(" | ")
      .map((cell) => cell.trim()),
  );
  return cells.flatMap(([promise = "", , proof = ""]) => (/^(-+|GEP-1)$/.test(promise) ? [] : [{ promise, proof }]));
}

function hasTest(path: string, name: string): boolean {
  const source = readFileSync(join(projectFolder, path), "utf8");
  return ['"', "`"].some((quote) => source.includes(quote + name + quote));
}
