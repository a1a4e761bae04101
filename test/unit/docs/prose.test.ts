import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { pages, projectFolder, proseOf, readPage } from "../../support/pages.ts";

/** Words that hide who acts: a sentence names the worker, the operator, the flow or the controller. */
const hiding = /\b(nobody|somebody|whoever|anybody|everybody|no one|someone|anyone|everyone)\b/gi;

/** "What X needs" above the dependencies of X says nothing: readers look for what is passed, and with which rights. */
const empty = /\/\*\* What [^\n]* needs?[.;][^\n]*\n(?=(export )?interface \w+Deps\b)/g;

/** Every source: its comments and messages are prose, too. An image's /etc/passwd names the user nobody. */
const sources = readdirSync(join(projectFolder, "src"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && path !== "local/image/images.ts")
  .map((path) => `src/${path}`);

it.each(pages)("%s names the actors", (page) => {
  expect(proseOf(page).match(hiding) ?? []).toEqual([]);
});

it.each(sources)("%s names the actors, and says something of its dependencies", (source) => {
  const text = readPage(source);
  const found = [hiding, empty].flatMap((rule) =>
    [...text.matchAll(rule)].map(({ 0: words, index }) => `line ${text.slice(0, index).split("\n").length}: ${words}`),
  );
  expect(found).toEqual([]);
});
