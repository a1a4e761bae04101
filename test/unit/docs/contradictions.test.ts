import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allPlanted, pagesOfPromises, rowsLeft } from "../../mutation/contradictions.ts";
import { projectFolder, readPage } from "../../support/pages.ts";
import { rowsOf } from "../../support/proofs.ts";

const textOf = (file: string): string =>
  existsSync(join(projectFolder, file)) ? readFileSync(join(projectFolder, file), "utf8") : "";

describe.each(allPlanted())("The contradiction of $page's row $promise", ({ row, named, section, ...planted }) => {
  it("is of one row, which names the test that has to fail", () => {
    const rows = rowsOf(readPage(planted.page)).filter(({ promise }) => promise === planted.promise);
    expect(rows.filter((one) => section === undefined || one.section === section)).toEqual([row]);
    expect(named).toBeDefined();
  });

  it("changes a text that stands once in its file", () => {
    expect(textOf(planted.file).split(planted.find)).toHaveLength(2);
    expect(planted.put).not.toBe(planted.find);
  });
});

it.each(pagesOfPromises)("The list of rows without a contradiction is that of $page, in its order", (page) => {
  expect(page.unplanted).toEqual(rowsLeft(page));
});
