import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectFolder, readPage } from "../../support/pages.ts";
import { rowsOf } from "../../support/proofs.ts";

const rows = rowsOf(readPage("docs/gep-28.md")).filter(({ promise }) => promise !== "GEP-28");

it("The page about GEP-28 has rows", () => {
  expect(rows.length).toBeGreaterThan(60);
});

it.each(rows)("GEP-28's row $promise has a test that exists, or a reason why it has none", ({ proof }) => {
  const files = [...proof.matchAll(/`(test\/[^`]+)`/g)].map(([, path = ""]) => path);
  expect(files.filter((path) => !existsSync(join(projectFolder, path)))).toEqual([]);
  if (files.length === 0) expect(proof).toMatch(/^(Still to come|Not built): \S/);
});
