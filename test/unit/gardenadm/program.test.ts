import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { loadVerbs } from "../../../src/cli/group.ts";
import { flagOf } from "../../../src/cli/option.ts";
import { runProgram } from "../../../src/cli/program.ts";
import { createContext } from "../../../src/gardenadm/connection.ts";
import { gardenadm } from "../../../src/gardenadm/gardenadm.ts";
import { fakeOutput, fakeTerminal } from "../cli/fake-terminal.ts";
import { idleGroups } from "../cli/idle-groups.ts";
import { runGardenadm } from "./lab.ts";

const run = promisify(execFile);
/** A process without variables, and without a kubeconfig. */
const nothing = { variables: {}, adminKubeconfig: "/nonexistent", input: process.stdin };

const program = join(import.meta.dirname, "../../../bin/gardenadm");

test.each(["--version", "-V", "version"])("gardenadm says by %s what it is and what it serves", async (word) => {
  expect(await runGardenadm([word])).toEqual({
    exit: 0,
    out: expect.stringMatching(
      /^gardenadm \d+\.\d+\.\d+ \(Node.js \d+\.\d+\.\d+\)\nserves Kubernetes 1\.34 with etcd 3\.6\.10, and gardens of Gardener 1\.150, 1\.151\n$/,
    ),
    err: "",
  });
});

test("gardenadm says to a script what it serves", async () => {
  const { out } = await runGardenadm(["version", "-o", "json"]);
  expect(JSON.parse(out)).toEqual({
    gardenadm: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    node: process.versions.node,
    kubernetes: ["1.34"],
    etcd: "3.6.10",
    garden: ["1.150", "1.151"],
  });
});

test("gardenadm has no upgrade, and says so like of any word that it does not know", async () => {
  expect(await runGardenadm(["upgrade"])).toEqual({
    exit: 2,
    out: "",
    err: "error: unknown command 'upgrade'; see --help\n",
  });
});

test("gardenadm has help for each verb, which fits into 60 columns but for its usage and examples", async () => {
  for (const group of gardenadm.groups)
    for (const { name, summary } of await loadVerbs(group)) {
      const terminal = { out: fakeOutput({ live: true, width: 60 }), err: fakeOutput() };
      const { signal } = new AbortController();
      const { context } = createContext({ ...nothing, terminal, signal });
      expect(await runProgram([...new Set([group.name, name]), "--help"], gardenadm, context)).toBe(0);
      const [whole = ""] = terminal.out.text().split("\nExamples:");
      const help = whole.replace(/^Usage: .*/, "");
      expect(help).toContain(summary.slice(0, 40));
      expect(help.split("\n").filter((line) => line.length > 60 && line.trim().includes(" "))).toEqual([]);
    }
});

test("gardenadm understands each example of its help", async () => {
  const verbs = (await Promise.all(gardenadm.groups.map(loadVerbs))).flat();
  const lines = verbs
    .flatMap(({ examples = [] }) => examples.flatMap((line) => line.split(" | ")))
    .filter((line) => line.startsWith("gardenadm "));
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) {
    const terminal = fakeTerminal();
    const { signal } = new AbortController();
    const { context } = createContext({ ...nothing, terminal, signal });
    const words = line.split(" > ")[0]?.split(" ").slice(1) ?? [];
    const exit = await runProgram(words, { ...gardenadm, groups: idleGroups(gardenadm.groups) }, context);
    expect({ line, exit, err: terminal.err.text() }).toEqual({ line, exit: 0, err: "" });
  }
});

test("the help of gardenadm says its own exit codes", async () => {
  const { out } = await runGardenadm(["--help"]);
  expect(out).toContain("\n  4    the cluster does not answer\n");
  expect(out).toContain("\n  130  interrupted; the same command goes on there\n");
});

test.each(["bash", "zsh", "fish"])(
  "gardenadm completes its own words in %s, and none of perennial's",
  async (shell) => {
    const { out } = await runGardenadm(["completion", shell]);
    for (const group of gardenadm.groups)
      for (const { name, options } of await loadVerbs(group)) {
        expect(out).toContain(name);
        for (const key of Object.keys(options))
          expect(out).toContain(shell === "fish" ? flagOf(key).slice(2) : flagOf(key));
      }
    expect(out).not.toContain("perennial");
  },
);

test("bash completes a command line of gardenadm", async () => {
  const { out } = await runGardenadm(["completion", "bash"]);
  const script = `${out}
    COMP_WORDS=(gardenadm token g) COMP_CWORD=2; _gardenadm; echo "\${COMPREPLY[*]}"; complete -p gardenadm`;
  const { stdout } = await run("bash", ["-c", script]);
  expect(stdout).toBe("generate\ncomplete -F _gardenadm gardenadm\n");
});

test("the program that is installed runs, and ends with the exit code of its command line", async () => {
  expect((await run(program, ["token", "generate"])).stdout).toMatch(/^[a-z0-9]{6}\.[a-z0-9]{16}\n$/);
  await expect(run(program, ["token", "xyz"])).rejects.toMatchObject({
    code: 2,
    stderr: "error: unknown command 'xyz'; see --help\n",
  });
});

test("gardenadm shows no token that stood in the wrong place of a command line", async () => {
  const { exit, err } = await runGardenadm(["token", "abcdef.0123456789abcdef"]);
  expect({ exit, err }).toEqual({ exit: 2, err: "error: unknown command 'abcdef.****************'; see --help\n" });
});
