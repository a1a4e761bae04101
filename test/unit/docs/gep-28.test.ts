import { expect, it } from "vitest";
import { readPage } from "../../support/pages.ts";
import { faultsOf, rowsOf } from "../../support/proofs.ts";

const rows = rowsOf(readPage("docs/gep-28.md"));

it("The page about GEP-28 has rows", () => {
  expect(rows.length).toBeGreaterThan(90);
});

it.each(rows)("GEP-28's row $promise has a test that exists, or a reason why it has none", ({ proof }) => {
  expect(faultsOf(proof)).toEqual([]);
});

it("A row of GEP-28 names no test but by its file and its name", () => {
  const unnamed = rows.flatMap(({ promise, proof }) => (/`test\/[^`]*`(?!: "[^"]+")/.test(proof) ? [promise] : []));
  expect(unnamed).toEqual([]);
});
