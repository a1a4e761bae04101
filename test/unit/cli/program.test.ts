import { expect, it } from "vitest";
import { createContext } from "../../../src/cli/connection.ts";
import { defineCommand } from "../../../src/cli/command.ts";
import { CliError } from "../../../src/cli/exit.ts";
import { anyNumber, choice, duration, flag, optional, repeated, required, text } from "../../../src/cli/option.ts";
import { runCli } from "../../../src/cli/perennial.ts";
import { loadVerbs, type Group } from "../../../src/cli/group.ts";
import { registry } from "../../../src/cli/registry.ts";
import { fakeOutput, fakeTerminal } from "./fake-terminal.ts";

it("the command line hands a verb its arguments and options as values", async () => {
  const { call } = await run([
    "thing",
    "grow",
    "oak",
    "--big",
    "--colour",
    "red",
    "--near",
    "a",
    "--near",
    "b",
    "--for",
    "1h30m",
    "-n",
    "wood",
  ]);
  expect(call).toEqual({
    args: { name: "oak", place: undefined },
    options: { big: true, colour: "red", near: ["a", "b"], for: 5_400_000, namespace: "wood" },
  });
});

it("the command line leaves out what was not given", async () => {
  const { call } = await run(["thing", "grow", "oak"]);
  expect(call?.options).toEqual({ big: false, colour: undefined, near: [], for: undefined, namespace: undefined });
});

it.each([
  [["thing", "grow"], "error: missing required argument 'name'; see --help\n"],
  [["thing", "grow", "oak", "--large"], "error: unknown option '--large'; see --help\n"],
  [["thing", "shrink"], "error: unknown command 'shrink'; see --help\n"],
  [["xyz"], "error: unknown command 'xyz'; see --help\n"],
  [["thing", "grow", "oak", "--colour", "blue"], 'error: --colour cannot be "blue": use one of red, green\n'],
  [["thing", "grow", "oak", "--for", "soon"], 'error: --for cannot be "soon": use a time such as 90s, 10m or 1h30m\n'],
])("the command line refuses %j with one sentence and exit code 2, trying nothing", async (argv, sentence) => {
  const { exit, err, call } = await run(argv);
  expect({ exit, err, call }).toEqual({ exit: 2, err: sentence, call: undefined });
});

it.each([
  ["delete", "--watch"],
  ["reconcile", "--watch"],
  ["retry", "--watch"],
  ["migrate", "--watch"],
  ["kubeconfig", "--revoke"],
])(
  "the verb %s refuses a timeout for which there is nothing to wait, with the option that is missing",
  async (verb, missing) => {
    const terminal = fakeTerminal();
    const context = createContext({ terminal, variables: {}, signal: new AbortController().signal }).context;
    expect(await runCli(["shoot", verb, "garden-dev/local", "--timeout", "5m"], registry, context)).toBe(2);
    expect(terminal.err.text()).toBe(`error: --timeout is for ${missing} only: add ${missing}, or leave it out\n`);
  },
);

it.each([
  ["usage", 2],
  ["notFound", 3],
  ["unreachable", 4],
  ["timeout", 5],
  ["failed", 1],
] as const)("the command line ends with the exit code of an error that is %s", async (kind, code) => {
  const { exit, err } = await run(["thing", "grow", "oak"], () => {
    throw new CliError(kind, "there is no light: open a window");
  });
  expect({ exit, err }).toEqual({ exit: code, err: "error: there is no light: open a window\n" });
});

it("the command line takes a refused connection, however deep, for an unreachable cluster", async () => {
  const { exit } = await run(["thing", "grow", "oak"], () => {
    const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    throw new Error("cannot list Shoot", { cause: refused });
  });
  expect(exit).toBe(4);
});

it("the help of every verb fits into 60 columns, but for its usage and examples, and names no verbs below it", async () => {
  for (const group of registry)
    for (const { name } of await loadVerbs(group)) {
      const terminal = { out: fakeOutput({ live: true, width: 60 }), err: fakeOutput() };
      const { context } = createContext({ terminal, variables: {}, signal: new AbortController().signal });
      expect(await runCli([...new Set([...group.name.split(" "), name]), "--help"], registry, context)).toBe(0);
      const [whole = ""] = terminal.out.text().split("\nExamples:");
      const help = whole.replace(/^Usage: .*/, "");
      expect(help).not.toContain("Commands:");
      expect(help.split("\n").filter((line) => line.length > 60 && line.trim().includes(" "))).toEqual([]);
    }
});

it("the command line ends with the exit that the verb answers", async () => {
  expect((await run(["thing", "grow", "oak"], () => "failed")).exit).toBe(1);
  expect((await run(["thing", "grow", "oak"], () => "interrupted")).exit).toBe(130);
});

it("the command line ends with the exit code of the program that the verb ran", async () => {
  expect((await run(["thing", "grow", "oak"], () => 42)).exit).toBe(42);
});

it("the command line hands a verb of a group within a group all texts behind --, as they are", async () => {
  const calls: unknown[] = [];
  const dig = defineCommand({
    name: "dig",
    summary: "Dig",
    args: { place: required("Where"), tools: anyNumber("With what") },
    options: {},
    run: async ({ args }) => void calls.push(args),
  });
  const groups = ["thing", "thing part"].map((name): Group => ({ name, summary: name, verbs: [async () => dig] }));
  for (const argv of [["wood", "--", "axe", "--big"], ["field"], []])
    await runCli(["thing", "part", "dig", ...argv], groups, createTestContext(fakeTerminal()));
  expect(calls).toEqual([
    { place: "wood", tools: ["axe", "--big"] },
    { place: "field", tools: [] },
  ]);
});

it("the command line imports only the verbs of the group that is named", async () => {
  const loaded: string[] = [];
  const group = (name: string): Group => ({
    name,
    summary: name,
    verbs: [async () => (loaded.push(name), grow(() => undefined))],
  });
  await runCli(["one", "grow", "oak"], [group("one"), group("two")], createTestContext(fakeTerminal()));
  expect(loaded).toEqual(["one"]);
});

it("the command line documents every exit code in its help", async () => {
  const terminal = fakeTerminal();
  expect(await runCli(["--help"], registry, createTestContext(terminal))).toBe(0);
  for (const code of ["0", "1", "2", "3", "4", "5", "130"])
    expect(terminal.out.text()).toMatch(new RegExp(`^  ${code} `, "m"));
});

it.each(["--version", "-V", "version"])("the command line says its version when it is asked with %s", async (word) => {
  const terminal = fakeTerminal();
  expect(await runCli([word], registry, createTestContext(terminal))).toBe(0);
  expect(terminal.out.text()).toMatch(/^perennial \d+\.\d+\.\d+ \(Node.js \d+\.\d+\.\d+\)\n$/);
});

it("the command line has one word for following what was asked for, whichever verb asks", async () => {
  const verbs = (await Promise.all(registry.map(loadVerbs))).flat();
  expect(verbs.filter(({ options }) => "watch" in options).map(({ name }) => name)).toEqual([
    "reconcile",
    "retry",
    "migrate",
    "delete",
  ]);
  expect(verbs.filter(({ options }) => "wait" in options)).toEqual([]);
});

it("the command line has help for every verb there is", async () => {
  for (const group of registry) {
    const verbs = "load" in group ? [await group.load()] : await Promise.all(group.verbs.map((load) => load()));
    for (const verb of verbs) {
      const terminal = fakeTerminal();
      const argv = "load" in group ? [group.name, "--help"] : [...group.name.split(" "), verb.name, "--help"];
      expect(await runCli(argv, registry, createTestContext(terminal))).toBe(0);
      expect(terminal.out.text()).toContain(verb.summary.slice(0, 40));
    }
  }
});

it("the command line says where it looked when there is no garden", async () => {
  const terminal = fakeTerminal();
  const exit = await runCli(["shoot", "list"], registry, createTestContext(terminal));
  expect({ exit, err: terminal.err.text() }).toEqual({
    exit: 4,
    err: "error: no garden cluster: name one with --kubeconfig, or start the local one with 'perennial local up'\n",
  });
});

type Answer = "failed" | "interrupted" | number | undefined;

function grow(body: (call: { args: unknown; options: unknown }) => Answer) {
  return defineCommand({
    name: "grow",
    summary: "Grow a thing",
    args: { name: required("Its name"), place: optional("Where") },
    options: {
      big: flag("Bigger"),
      colour: choice(["red", "green"], "Colour"),
      near: repeated("thing", "Near what"),
      for: duration("How long"),
      namespace: text("name", "Where", "n"),
    },
    run: async ({ args, options }) => body({ args, options }),
  });
}

async function run(argv: readonly string[], body: () => Answer = () => undefined) {
  let call: { args: unknown; options: unknown } | undefined;
  const verb = grow((given) => {
    call = given;
    return body();
  });
  const terminal = fakeTerminal();
  const groups: Group[] = [{ name: "thing", summary: "Things", verbs: [async () => verb] }];
  const exit = await runCli(argv, groups, createTestContext(terminal));
  return { exit, call, err: terminal.err.text() };
}

/** A context that finds no cluster: its state directory does not exist. */
function createTestContext(terminal: ReturnType<typeof fakeTerminal>) {
  const variables = { PERENNIAL_STATE_DIR: "/nonexistent/perennial" };
  return createContext({ terminal, variables, signal: new AbortController().signal }).context;
}
