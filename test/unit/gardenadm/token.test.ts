import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runGardenadm } from "./lab.ts";

const secret = "0123456789abcdef";

const shape = "it has to be 6 of a-z and 0-9, a dot, and 16 of a-z and 0-9, as 'gardenadm token generate' makes one\n";

let directory: string;
beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), "gardenadm-"))));
afterAll(() => rm(directory, { recursive: true }));

test("a token that is generated is another one each time, and no cluster is asked", async () => {
  const made = await Promise.all(Array.from({ length: 50 }, () => runGardenadm(["token", "generate"])));
  for (const { exit, out, err } of made)
    expect({ exit, out, err }).toEqual({
      ...{ exit: 0, err: "" },
      out: expect.stringMatching(/^[a-z0-9]{6}\.[a-z0-9]{16}\n$/),
    });
  expect(new Set(made.map(({ out }) => out)).size).toBe(50);
});

test.each([
  ["whose dot is another character", `abcdefX${secret}`],
  ["without a dot", `abcdef${secret}`],
  ["with a capital letter", `Abcdef.${secret}`],
  ["that is too short", `abcdef.${secret.slice(1)}`],
  ["that is too long", `abcdef.${secret}0`],
  ["with a line behind it", `abcdef.${secret}\nabcdef.${secret}`],
  ["of nothing", ""],
])("a token %s is refused before a cluster is looked for, and not shown", async (_, text) => {
  const places = [
    { words: [text], place: "given" },
    { words: ["-"], place: "on standard input" },
    { words: ["--bootstrap-token-file", join(directory, "token")], place: `in ${join(directory, "token")}` },
  ];
  await writeFile(join(directory, "token"), text);
  for (const { words, place } of places) {
    const outcome = await runGardenadm(["token", "create", ...words], { input: text });
    expect(outcome).toEqual({ exit: 2, out: "", err: `error: the bootstrap token ${place} is misshapen: ${shape}` });
  }
});

test("a token that is well shaped may end with its line", async () => {
  const { err } = await runGardenadm(["token", "create", "-"], { input: `abcdef.${secret}\n` });
  expect(err).toContain("no kubeconfig");
});

test.each([
  [
    ["create", `abcdef.${secret}`, "--bootstrap-token-file", "token"],
    "there are two bootstrap tokens: leave out --bootstrap-token-file, or the other one",
  ],
  [
    ["create", "--bootstrap-token-file", "/nonexistent"],
    "cannot read /nonexistent: name a file with a bootstrap token by --bootstrap-token-file",
  ],
  [["create", "--validity", "599s"], '--validity cannot be "599s": use a time from 10m to 24h'],
  [["create", "--validity", "24h1s"], '--validity cannot be "24h1s": use a time from 10m to 24h'],
  [["create", "--validity", "soon"], '--validity cannot be "soon": use a time such as 90s, 10m or 1h30m'],
  [["create", "--description", ""], '--description cannot be "": say --description TEXT'],
  [
    ["create", "--server", "a:1"],
    "--server is for --print-join-command only: add --print-join-command, or leave it out",
  ],
  [
    ["delete", "abcdef", `ghijklX${secret}`],
    "word 2 names no bootstrap token: say its ID of 6 characters, the whole token with its dot, or bootstrap-token-ID",
  ],
  [["delete", "-"], "standard input names no bootstrap token: write its ID there"],
  [["delete"], "missing required argument 'token'; see --help"],
  [["list", "-o", "wide"], '--output cannot be "wide": use one of json, yaml'],
])("the command line token %j is refused with its remedy, trying nothing", async (argv, sentence) => {
  expect(await runGardenadm(["token", ...argv])).toEqual({ exit: 2, out: "", err: `error: ${sentence}\n` });
});

test("a join that names two tokens, or a file that is not there, is told of its own flag", async () => {
  const join = ["join", "10.0.0.1", "--bootstrap-token-file", "/nonexistent"];
  expect((await runGardenadm([...join, "--bootstrap-token", `abcdef.${secret}`])).err).toBe(
    "error: there are two bootstrap tokens: leave out --bootstrap-token-file, or the other one\n",
  );
  expect((await runGardenadm(join)).err).toBe(
    "error: cannot read /nonexistent: name a file with a bootstrap token by --bootstrap-token-file\n",
  );
});

test.each(["10m", "24h", "86400"])("a token may live for %s", async (validity) => {
  const { err } = await runGardenadm(["token", "create", "--validity", validity]);
  expect(err).toContain("no kubeconfig");
});

test("standard input that is longer than any token is not read to its end", async () => {
  const { exit, err } = await runGardenadm(["token", "create", "-"], { input: "a".repeat(70_000) });
  expect({ exit, err }).toEqual({
    exit: 2,
    err: "error: standard input is longer than 65536 bytes: pass what is asked for, and nothing else\n",
  });
});
