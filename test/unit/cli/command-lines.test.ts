import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandLines } from "../../../src/api/command-lines.ts";
import { createContext } from "../../../src/cli/connection.ts";
import { runCli } from "../../../src/cli/perennial.ts";
import { loadVerbs } from "../../../src/cli/group.ts";
import { registry } from "../../../src/cli/registry.ts";
import { readPage } from "../../support/pages.ts";
import { fakeTerminal } from "./fake-terminal.ts";
import { idleGroups } from "./idle-groups.ts";

const root = join(import.meta.dirname, "../../..");

const hints = Object.values<(...words: string[]) => string>(commandLines).map((line) => line("garden-dev/local", "a"));

test("every command line that a message names is one that the CLI understands", async () => {
  expect(await faultsOf(hints)).toEqual([]);
});

test("every command line that a message names can be pasted: only what the operator decides is left open", () => {
  const open = Object.values<(...words: never[]) => string>(commandLines).flatMap(
    (line) => line(...(["garden-dev/local"] as never[])).match(/\b[A-Z]{3,}\b/g) ?? [],
  );
  expect(new Set(open)).toEqual(new Set(["FILE", "NAME", "SEED", "TEXT"]));
});

test("every message ends with the command line that it names, or encloses it, so that no word of it is pasted, too", () => {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith("command-lines.ts"))
    .flatMap((path) => readPage(`src/${path}`).match(/\$\{commandLines\.\w+\([^\n]*?\)\}.{0,9}/g) ?? []);
  expect(sources.length).toBeGreaterThan(30);
  expect(sources.filter((use) => !/\)\}(['"`;]|\\[`n])/.test(use))).toEqual([]);
});

test("every example of a verb is a command line that the CLI understands", async () => {
  const verbs = (await Promise.all(registry.map(loadVerbs))).flat();
  const examples = verbs.flatMap(({ examples = [] }) => examples);
  expect(examples.length).toBeGreaterThan(10);
  expect(await faultsOf(examples.flatMap(linesIn))).toEqual([]);
});

test("every command line in a block of the documentation is one that the CLI understands", async () => {
  const pages = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).filter((page) =>
    page.endsWith(".md"),
  );
  const lines = ["README.md", ...pages.map((page) => join("docs", page))].flatMap((page) => {
    const blocks = readFileSync(join(root, page), "utf8").matchAll(/^```(?:sh|bash)\n([\s\S]*?)^```/gm);
    return [...blocks].flatMap(([, block = ""]) => linesIn(block));
  });
  expect(lines.length).toBeGreaterThan(10);
  expect(await faultsOf(lines)).toEqual([]);
});

/** The command lines in a script, each without what is piped, chained or commented behind it. */
function linesIn(script: string): string[] {
  const joined = script.replaceAll("\\\n", " ");
  return [...joined.matchAll(/(?:^|[\s(])(?:bin\/)?(perennial (?:local|shoot|flow|version)\b[^\n|&;#)<>]*)/gm)].map(
    ([, line = ""]) => line.trim(),
  );
}

/** What the CLI answers to lines that it cannot run; what it can run is not run. */
async function faultsOf(lines: readonly string[]): Promise<string[]> {
  const faults = await Promise.all(lines.map(faultOf));
  return faults.flat();
}

async function faultOf(line: string): Promise<string[]> {
  const terminal = fakeTerminal();
  const { context } = createContext({ terminal, variables: {}, signal: new AbortController().signal });
  const exit = await runCli(words(line).slice(1), idle, context);
  return exit === 0 ? [] : [`${line}: ${terminal.err.text()}`];
}

/** The CLI as it is, but for what its verbs do. */
const idle = idleGroups(registry);

/** The words of a line, as a shell would read them. */
const words = (line: string): string[] =>
  (line.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll(/^["']|["']$/g, ""));
