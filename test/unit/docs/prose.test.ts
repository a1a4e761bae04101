import { expect, it } from "vitest";
import { pages, proseOf } from "../../support/pages.ts";

/** Words that hide who acts: a sentence names the worker, the operator, the flow or the controller. */
const hiding = /\b(nobody|somebody|whoever|anybody|everybody)\b/gi;

/** Pages that still have such words, until they are rewritten, or the docstrings are from which they are generated. */
const unfinished = ["docs/api.md", "docs/cli.md"];

it.each(pages.filter((page) => !unfinished.includes(page)))("%s names the actors", (page) => {
  expect(proseOf(page).match(hiding) ?? []).toEqual([]);
});

it.each(unfinished)("%s does not name the actors yet; when it does, it is no longer excused", (page) => {
  expect(proseOf(page).match(hiding) ?? []).not.toEqual([]);
});
