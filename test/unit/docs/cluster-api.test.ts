import { expect, it } from "vitest";
import { readPage } from "../../support/pages.ts";
import { faultsOf, rowsOf } from "../../support/proofs.ts";

const [, section = ""] = readPage("docs/cluster-api.md").split("## Endpoints, requirement by requirement");
const rows = rowsOf(section).filter(({ promise }) => promise !== "Requirement");

it("the page about Cluster API has rows about endpoints", () => {
  expect(rows.length).toBeGreaterThan(10);
});

it.each(rows)("the proposal's row $promise has a test that exists, or a reason why it has none", ({ proof }) => {
  expect(faultsOf(proof)).toEqual([]);
});
