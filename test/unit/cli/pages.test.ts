import { expect, it } from "vitest";
import { loadVerbs } from "../../../src/cli/group.ts";
import { registry } from "../../../src/cli/registry.ts";
import { pages, readPage } from "../../support/pages.ts";

it.each(pages)("%s names only verbs and options that there are", async (page) => {
  for (const { verb, words, line } of commandsIn(page)) {
    const { options } = await find(verb);
    const known = Object.entries(options).flatMap(([key, { short }]) => [flagOf(key), `-${short ?? ""}`]);
    const own = words.includes("--") ? words.slice(0, words.indexOf("--")) : words;
    for (const word of own.filter((one) => /^--?[a-z]/.test(one))) expect(known, line).toContain(word);
  }
});

it.each(pages)("%s says of which namespace the Shoot is wherever that is not guessed", (page) => {
  for (const { verb, words, line } of commandsIn(page)) {
    if (!["shoot migrate", "shoot delete"].includes(verb) || words.includes("--plan")) continue;
    if (words[0] !== undefined && !/^[-<]/.test(words[0])) expect(words[0], line).toContain("/");
  }
});

function commandsIn(page: string) {
  return [
    ...readPage(page).matchAll(
      /\bperennial ((?:shoot|flow|seed|garden|local(?: machine)?) [a-z]+(?:-[a-z]+)*)([^`\n#]*)/g,
    ),
  ].map(([line, verb = "", rest = ""]) => ({
    verb,
    words: rest.trim().split(/\s+/).filter(Boolean),
    line,
  }));
}

async function find(words: string) {
  const [name, group] = [words.split(" ").at(-1), words.split(" ").slice(0, -1).join(" ")];
  const verbs = await Promise.all(registry.filter((one) => one.name === group).map(loadVerbs));
  const verb = verbs.flat().find((one) => one.name === name);
  if (!verb) throw new Error(`there is no verb ${words}`);
  return verb;
}

const flagOf = (key: string): string => `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
