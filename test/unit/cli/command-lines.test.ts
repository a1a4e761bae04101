import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { commandLines } from "../../../src/api/command-lines.ts";
import { loadVerbs, registry, type Verb } from "../../../src/cli/registry.ts";

const root = join(import.meta.dirname, "../../..");
const verbs = new Map<string, Verb>();

beforeAll(async () => {
  for (const group of registry) {
    const prefix = "load" in group ? "" : `${group.name} `;
    for (const verb of await loadVerbs(group)) verbs.set(`${prefix}${verb.name}`, verb);
  }
});

test("every command line that a message names is one that the CLI understands", () => {
  const lines = Object.values<(...words: string[]) => string>(commandLines).map((line) =>
    line("garden-dev/local", "a"),
  );
  expect(lines.flatMap(faultsOf)).toEqual([]);
});

test("every example of a verb is a command line that the CLI understands", () => {
  const examples = [...verbs.values()].flatMap(({ examples = [] }) => examples);
  expect(examples.length).toBeGreaterThan(10);
  expect(examples.flatMap(linesIn).flatMap(faultsOf)).toEqual([]);
});

test("every command line in a block of the documentation is one that the CLI understands", () => {
  const pages = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).filter((page) =>
    page.endsWith(".md"),
  );
  const lines = ["README.md", ...pages.map((page) => join("docs", page))].flatMap((page) => {
    const blocks = readFileSync(join(root, page), "utf8").matchAll(/^```(?:sh|bash)\n([\s\S]*?)^```/gm);
    return [...blocks].flatMap(([, block = ""]) => linesIn(block));
  });
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.flatMap(faultsOf)).toEqual([]);
});

/** The command lines in a script, each without what is piped, chained or commented behind it. */
function linesIn(script: string): string[] {
  const joined = script.replaceAll("\\\n", " ");
  return [...joined.matchAll(/(?:^|[\s(])(?:bin\/)?(perennial (?:local|shoot|flow|version)\b[^\n|&;#)<>]*)/gm)].map(
    ([, line = ""]) => line.trim(),
  );
}

/** What the CLI does not know in this line: its verb, an option, or more arguments than the verb takes. */
function faultsOf(line: string): string[] {
  const [, first = "", second = "", ...rest] = words(line);
  const grouped = verbs.get(`${first} ${second}`);
  const verb = grouped ?? verbs.get(first);
  if (verb === undefined) return [`${line}: no such verb`];
  return faultsOfWords(verb, grouped ? rest : [second, ...rest].filter(Boolean)).map((fault) => `${line}: ${fault}`);
}

function faultsOfWords(verb: Verb, given: readonly string[]): string[] {
  const faults: string[] = [];
  let args = 0;
  for (let i = 0; i < given.length; i++) {
    const word = given[i] ?? "";
    if (!word.startsWith("-")) args++;
    else {
      const option = optionNamed(verb, word.split("=")[0] ?? "");
      if (option === undefined) faults.push(`no option ${word}`);
      else if (option.placeholder !== undefined && !word.includes("=")) i++;
    }
  }
  if (args > Object.keys(verb.args).length) faults.push(`${args} arguments`);
  return faults;
}

function optionNamed({ options }: Verb, flag: string) {
  return Object.entries(options).find(([key, { short }]) => {
    const long = `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return flag === long || flag === `-${short}`;
  })?.[1];
}

const words = (line: string): string[] => line.match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
