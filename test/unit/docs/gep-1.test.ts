import { expect, it } from "vitest";
import { readPage } from "../../support/pages.ts";
import { faultsOf, rowsOf } from "../../support/proofs.ts";

const rows = rowsOf(readPage("docs/gep-1.md"));

it("The page about GEP-1 has rows", () => {
  expect(rows.length).toBeGreaterThan(100);
});

it.each(rows)("GEP-1's row $promise has a test that exists, or a reason why it has none", ({ proof }) => {
  expect(faultsOf(proof)).toEqual([]);
});
