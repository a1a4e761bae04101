import { expect, it } from "vitest";
import { readPage } from "../../support/pages.ts";
import { faultsOf, rowsOf } from "../../support/proofs.ts";

const rows = rowsOf(readPage("docs/cluster-api-requirements.md")).filter(({ promise }) => promise !== "Requirement");

it.each(rows)("the proposal's row $promise has a test that exists, or a reason why it has none", ({ proof }) => {
  expect(faultsOf(proof)).toEqual([]);
});

const requirements = [
  ...[...count(1, 7), ...count(10, 16), ...count(20, 26), ...count(30, 35), ...count(40, 44)].map(
    (number) => `CE-${String(number).padStart(2, "0")}`,
  ),
  ...count(1, 3).map((number) => `S${number}`),
  ...count(1, 7).map((number) => `story ${number}`),
];

it.each(requirements)("requirement %s of the proposal has a row", (id) => {
  expect(rows.flatMap(({ promise }) => idsIn(promise))).toContain(id);
});

/** The ids that a row is about: `CE-01`, `S1`, `story 1`; of `stories 1, 3, 7` all three. */
function idsIn(promise: string): string[] {
  const [, stories = ""] = /\bstor(?:y|ies) ([\d, ]+)/.exec(promise) ?? [];
  return [
    ...(promise.match(/\bCE-\d\d\b/g) ?? []),
    ...(promise.match(/\bS[123]\b/g) ?? []),
    ...(stories.match(/\d+/g) ?? []).map((number) => `story ${number}`),
  ];
}

function count(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
