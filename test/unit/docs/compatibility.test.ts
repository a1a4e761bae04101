import { expect, it } from "vitest";
import { deleteShoot } from "../../../src/workflows/delete.ts";
import { reconcile } from "../../../src/workflows/reconcile.ts";
import { readPage } from "../../support/pages.ts";

const page = readPage("docs/compatibility.md");

/** The steps that a table names in its second column. */
function stepsUnder(heading: string): string[] {
  const [, after = ""] = page.split(`\n### ${heading}\n`);
  const [table = ""] = after.split("\n### ");
  const cells = table.split("\n").flatMap((line) => (line.startsWith("| ") ? [line.split("|")[2] ?? ""] : []));
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, step = ""]) => step));
}

it.each([
  ["Reconcile, and Restore", reconcile],
  ["Delete", deleteShoot],
])("docs/compatibility.md says of every step under %s which tasks of gardenlet it does", (heading, flow) => {
  expect([...new Set(stepsUnder(heading))].sort()).toEqual([...flow.steps.keys()].sort());
});
