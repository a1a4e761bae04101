import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runGardenadm } from "./lab.ts";

let directory: string;
const file = (name: string) => join(directory, name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "gardenadm-"));
  await mkdir(file("home/.kube"), { recursive: true });
  for (const name of ["option", "variable", "admin.conf", "home/.kube/config"]) await writeFile(file(name), "");
});
afterAll(() => rm(directory, { recursive: true }));

test("gardenadm takes the kubeconfig of the option, the variable, the node and the user, in that order", async () => {
  const usual = { adminKubeconfig: file("admin.conf") };
  const [HOME, KUBECONFIG] = [file("home"), `${file("missing")}:${file("variable")}`];
  const errorOf = async (words: readonly string[], surroundings: Parameters<typeof runGardenadm>[1]) =>
    (await runGardenadm(["token", "list", ...words], surroundings)).err;
  const all = { ...usual, variables: { HOME, KUBECONFIG } };
  expect(await errorOf(["-k", file("option")], all)).toContain(`kubeconfig ${file("option")} is empty`);
  expect(await errorOf([], all)).toContain(`kubeconfig ${file("variable")} (from $KUBECONFIG) is empty`);
  expect(await errorOf([], { ...usual, variables: { HOME } })).toContain(`kubeconfig ${file("admin.conf")} is empty`);
  expect(await errorOf([], { variables: { HOME } })).toContain(`kubeconfig ${file("home/.kube/config")} is empty`);
});

test("gardenadm says where it looked when there is no kubeconfig, and the remedy", async () => {
  expect(await runGardenadm(["token", "list"], { variables: { HOME: "/nonexistent" } })).toEqual({
    exit: 2,
    out: "",
    err: "error: no kubeconfig: $KUBECONFIG names none, and there is no /nonexistent/admin.conf or /nonexistent/.kube/config; run this on a control-plane node, or name one with --kubeconfig\n",
  });
});

test("gardenadm names a kubeconfig that it cannot read, and the remedy", async () => {
  expect(await runGardenadm(["token", "list", "--kubeconfig", directory])).toEqual({
    exit: 2,
    out: "",
    err: `error: cannot read kubeconfig ${directory}: name an existing file with --kubeconfig\n`,
  });
});
