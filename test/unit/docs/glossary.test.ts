import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectFolder, readPage } from "../../support/pages.ts";

const sources = readdirSync(join(projectFolder, "src"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => ({ path, text: readFileSync(join(projectFolder, "src", path), "utf8") }));

const rows = [...readPage("docs/glossary.md").matchAll(/^\| ([^|]+?) +\|[^|]+\| `([^`]+)` +\|$/gm)];

it("every term of the glossary is a name in the code", () => {
  expect(rows.length).toBeGreaterThan(30);
  const missing = rows.flatMap(([, term, name = ""]) =>
    sources.some(({ text }) => new RegExp(`\\b${name}\\b`).test(text)) ? [] : [`${term}: ${name}`],
  );
  expect(missing).toEqual([]);
});

/** Words that had meanings of our own, and the field's words for them. */
const replaced: Readonly<Record<string, string>> = {
  hands: "step runner, or services",
  board: "progress tracker",
  chore: "activity",
  standing: "readiness",
  patience: "timeout",
  turns: "mutex",
  parting: "divergence",
  wish: "request",
  beating: "heartbeat",
};

it.each(Object.entries(replaced))("no name in the code is called %s, for which the word is %s", (word) => {
  const name = new RegExp(
    `\\b(?:const|let|function|class|interface|type|readonly) (?:[a-z]+(?=[A-Z]))?${word}\\b`,
    "i",
  );
  const found = sources.filter(({ text }) => name.test(text)).map(({ path }) => path);
  expect(found).toEqual([]);
});
