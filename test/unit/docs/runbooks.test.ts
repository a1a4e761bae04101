import { basename } from "node:path";
import { expect, it } from "vitest";
import { headingsOf, pagesIn, readPage } from "../../support/pages.ts";

const index = "docs/runbooks/README.md";
const runbooks = pagesIn("docs/runbooks").filter((page) => page !== index);

it.each(runbooks)("%s says Symptom, Cause, Fix and Why, in this order", (page) => {
  const sections = headingsOf(page).filter(({ level }) => level === 2);
  expect(sections.map(({ text }) => text)).toEqual(["Symptom", "Cause", "Fix", "Why"]);
});

it("The index of runbooks lists every runbook, once", () => {
  const listed = [...readPage(index).matchAll(/\]\(([a-z0-9-]+\.md)\)/g)].map(([, link]) => link);
  expect(listed.toSorted()).toEqual(runbooks.map((page) => basename(page)).toSorted());
});
