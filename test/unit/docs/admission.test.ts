import { expect, it } from "vitest";
import { readPage } from "../../support/pages.ts";
import { faultsOf, rowsOf } from "../../support/proofs.ts";

const rows = rowsOf(readPage("docs/admission.md"));

it("The page about admission has rows", () => {
  expect(rows.length).toBeGreaterThan(35);
});

it.each(rows)("the rule $promise has a test that exists, or a reason why it has none", ({ proof }) => {
  expect(faultsOf(proof)).toEqual([]);
});
