import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadVerbs, registry } from "../../../src/cli/registry.ts";

const pages = ["README.md", "docs/getting-started.md", "docs/operations.md", "docs/concepts.md", "docs/extending.md"];

it.each(pages)("%s names only verbs and options that there are", async (page) => {
  for (const { verb, words, line } of commandsIn(page)) {
    const { options } = await find(verb);
    const known = Object.entries(options).flatMap(([key, { short }]) => [flagOf(key), `-${short ?? ""}`]);
    for (const word of words.filter((one) => /^--?[a-z]/.test(one))) expect(known, line).toContain(word);
  }
});

it.each(pages)("%s says of which namespace the Shoot is wherever that is not guessed", (page) => {
  for (const { verb, words, line } of commandsIn(page)) {
    if (!["shoot migrate", "shoot delete"].includes(verb) || words.includes("--plan")) continue;
    if (words[0] !== undefined && !words[0].startsWith("-")) expect(words[0], line).toContain("/");
  }
});

function commandsIn(page: string) {
  const text = readFileSync(join(import.meta.dirname, "../../..", page), "utf8");
  return [...text.matchAll(/\bperennial ((?:shoot|flow|local) [a-z]+)([^`\n#]*)/g)].map(
    ([line, verb = "", rest = ""]) => ({
      verb,
      words: rest.trim().split(/\s+/).filter(Boolean),
      line,
    }),
  );
}

async function find(words: string) {
  const [group, name] = words.split(" ");
  const verbs = await Promise.all(registry.filter((one) => one.name === group).map(loadVerbs));
  const verb = verbs.flat().find((one) => one.name === name);
  if (!verb) throw new Error(`there is no verb ${words}`);
  return verb;
}

const flagOf = (key: string): string => `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
