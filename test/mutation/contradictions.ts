import { readPage } from "../support/pages.ts";
import { rowsOf, testsOf, type NamedTest, type Row } from "../support/proofs.ts";
import { ofGep1 } from "./contradictions/gep-1.ts";
import { ofGep1Deletion } from "./contradictions/gep-1-deletion.ts";
import { ofGep1Moves } from "./contradictions/gep-1-moves.ts";
import { ofGep1Objects } from "./contradictions/gep-1-objects.ts";
import { ofGep1Reconciliation } from "./contradictions/gep-1-reconciliation.ts";
import { ofGep1Registration } from "./contradictions/gep-1-registration.ts";
import { ofGep28 } from "./contradictions/gep-28.ts";
import { ofGep28Init } from "./contradictions/gep-28-init.ts";
import { ofGep28Nodes } from "./contradictions/gep-28-nodes.ts";
import { unplanted } from "./contradictions/unplanted.ts";

/** A change of one file that makes a promise untrue. */
export interface Contradiction {
  /** The heading above the row's table, where the page has the promise under several. */
  readonly section?: string;
  /** The row's first cell. */
  readonly promise: string;
  /** A part of the name of the test that has to fail, where it is not the first one that the row names. */
  readonly test?: string;
  /** The file that is changed, in which `find` stands once. */
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

/** A page whose rows each take a contradiction, but for those that name no test, and those in the list of what is left. */
interface Page {
  readonly page: string;
  readonly contradictions: readonly Contradiction[];
  readonly unplanted: readonly string[];
}

/** The pages of promises, and what contradicts each. */
export const pagesOfPromises: readonly Page[] = [
  {
    page: "docs/gep-1.md",
    contradictions: [
      ...ofGep1,
      ...ofGep1Objects,
      ...ofGep1Reconciliation,
      ...ofGep1Deletion,
      ...ofGep1Moves,
      ...ofGep1Registration,
    ],
    unplanted: unplanted["docs/gep-1.md"],
  },
  {
    page: "docs/gep-28.md",
    contradictions: [...ofGep28, ...ofGep28Init, ...ofGep28Nodes],
    unplanted: unplanted["docs/gep-28.md"],
  },
];

/** A contradiction with its page, its row and the test that has to fail; `row` and `test` are undefined where there is none. */
export interface Planted extends Contradiction {
  readonly page: string;
  readonly row: Row | undefined;
  readonly named: NamedTest | undefined;
}

/** All contradictions, in the order of the pages' rows. */
export function allPlanted(): Planted[] {
  return pagesOfPromises.flatMap(({ page, contradictions }) => {
    const rows = rowsOf(readPage(page));
    return contradictions
      .map((contradiction) => {
        const row = rows.find((candidate) => contradicts(contradiction, candidate));
        const tests = row === undefined ? [] : testsOf(row.proof);
        const named = tests.find(({ name }) => name.includes(contradiction.test ?? ""));
        return { ...contradiction, page, row, named };
      })
      .toSorted((one, other) => placeOf(rows, one.row) - placeOf(rows, other.row));
  });
}

const placeOf = (rows: readonly Row[], row: Row | undefined): number => (row === undefined ? -1 : rows.indexOf(row));

/** The rows of a page that name a test and have no contradiction, as the list of what is left names them. */
export function rowsLeft({ page, contradictions }: Page): string[] {
  return rowsOf(readPage(page))
    .filter((row) => testsOf(row.proof).length > 0 && !contradictions.some((one) => contradicts(one, row)))
    .map(({ section, promise }) => `${section}: ${promise}`);
}

function contradicts({ section, promise }: Contradiction, row: Row): boolean {
  return promise === row.promise && (section === undefined || section === row.section);
}
