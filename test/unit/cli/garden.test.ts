import { createServer } from "node:http";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createContext } from "../../../src/cli/connection.ts";
import type { Variables } from "../../../src/cli/context.ts";
import { requireGarden } from "../../../src/cli/garden.ts";
import { runCli } from "../../../src/cli/perennial.ts";
import { registry } from "../../../src/cli/registry.ts";
import { fakeTerminal } from "./fake-terminal.ts";

let directory: string;
let file: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "garden-"));
  file = join(directory, "garden.yaml");
});
afterAll(() => rm(directory, { recursive: true }));

it.each([
  ["", "is empty"],
  ["apiVersion: v1\nkind: Config", "has no current-context, and no contexts"],
  ["contexts: [{name: a}, {name: b}]", "has no current-context: set it to one of a, b"],
  ["current-context: c\ncontexts: [{name: a}, {name: b}]", 'has no context "c": it has a, b'],
  ["{{{", "is not YAML: see line 1, column 4"],
])("the command line says of the kubeconfig %j what it lacks, and the remedy", async (text, lack) => {
  await writeFile(file, text);
  const err = `error: kubeconfig ${file} ${lack}; mend it, or name another with --kubeconfig\n`;
  expect(await list(["--kubeconfig", file])).toEqual({ exit: 2, err });
});

it("the command line says which variable named a kubeconfig that is of no use", async () => {
  const missing = join(directory, "missing.yaml");
  expect(await list([], { PERENNIAL_GARDEN_KUBECONFIG: missing })).toEqual({
    exit: 2,
    err: `error: cannot read kubeconfig ${missing} (from $PERENNIAL_GARDEN_KUBECONFIG): name an existing file with --kubeconfig\n`,
  });
  await writeFile(file, "");
  const { err } = await list([], { KUBECONFIG: file });
  expect(err).toContain(`kubeconfig ${file} (from $KUBECONFIG) is empty`);
});

it("the command line asks a management cluster of its own for endpoints, and the garden where none is named", async () => {
  const [garden, management] = [join(directory, "no-garden.yaml"), join(directory, "no-management.yaml")];
  const variables = { PERENNIAL_GARDEN_KUBECONFIG: garden, PERENNIAL_MANAGEMENT_KUBECONFIG: management };
  const verb = ["endpoint", "list"];
  expect((await list([], variables, verb)).err).toContain(`${management} (from $PERENNIAL_MANAGEMENT_KUBECONFIG)`);
  expect((await list(["--kubeconfig", file], variables, verb)).err).not.toContain("no-management");
  const { PERENNIAL_GARDEN_KUBECONFIG } = variables;
  expect((await list([], { PERENNIAL_GARDEN_KUBECONFIG }, verb)).err).toContain(`${garden} (from`);
  expect((await list([], variables)).err).toContain(`${garden} (from`);
});

it("the command line looks nowhere else where $KUBECONFIG names no file that exists", async () => {
  const variables = { KUBECONFIG: `${directory}/a.yaml:${directory}/b.yaml`, PERENNIAL_STATE_DIR: directory };
  const { exit, err } = await list([], variables);
  expect({ exit, err }).toEqual({
    exit: 2,
    err: `error: cannot read kubeconfig ${variables.KUBECONFIG} (from $KUBECONFIG): name an existing file with --kubeconfig\n`,
  });
});

it("the command line says of a cluster without our kinds that it is no garden, and how it becomes one", async () => {
  const { exit, err } = await listFrom(404, { kind: "Status", message: "not found" });
  expect({ exit, err }).toEqual({
    exit: 2,
    err: expect.stringMatching(
      /^error: the cluster of kubeconfig \S+ is no garden, since it serves no Shoots: name a garden's with --kubeconfig, or make a garden of it: perennial local up --garden-kubeconfig FILE --seed NAME=FILE\n$/,
    ),
  });
});

it("the command line says of a cluster that serves other kinds of the group only that it is no garden", async () => {
  const { exit, err } = await listFrom(200, { kind: "APIResourceList", resources: [{ name: "seeds", kind: "Seed" }] });
  expect({ exit, err }).toMatchObject({ exit: 2, err: expect.stringContaining("is no garden") });
});

it("the command line says that a cluster does not take the kubeconfig's credentials", async () => {
  const { exit, err } = await listFrom(401, { kind: "Status", message: "Unauthorized" });
  expect({ exit, err }).toMatchObject({
    exit: 1,
    err: expect.stringMatching(
      /^error: the credentials of kubeconfig \S+ are of no use: Unauthorized; renew them, or name another kubeconfig with --kubeconfig\n$/,
    ),
  });
});

it("the command line says of an API server that does not answer whose it is, and the remedy", async () => {
  await writeFile(file, kubeconfig("http://127.0.0.1:1"));
  expect(await list(["--kubeconfig", file])).toEqual({
    exit: 4,
    err: `error: the garden of kubeconfig ${file} does not answer: http://127.0.0.1:1 is unreachable: connect ECONNREFUSED 127.0.0.1:1; start it, or name another kubeconfig with --kubeconfig\n`,
  });
});

it("the command line gives up on an API server that takes connections and says nothing", async () => {
  const client = { get: () => new Promise(() => {}) };
  const kubeconfig = { file: "garden.yaml", called: "garden.yaml", isLocal: true };
  await expect(requireGarden(client, kubeconfig, 10)).rejects.toMatchObject({
    exit: "unreachable",
    message:
      "the garden of kubeconfig garden.yaml does not answer: nothing came within 0s; see 'perennial local status', or name another kubeconfig with --kubeconfig",
  });
});

/** What `shoot list` says where the API server answers every question so. */
async function listFrom(status: number, body: unknown) {
  const server = createServer((_, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await writeFile(file, kubeconfig(`http://127.0.0.1:${port}`));
  const answer = await list(["--kubeconfig", file]);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  return answer;
}

async function list(options: readonly string[], variables: Variables = {}, verb = ["shoot", "list"]) {
  const terminal = fakeTerminal();
  const signal = new AbortController().signal;
  const { context, close } = createContext({
    terminal,
    variables: { PERENNIAL_STATE_DIR: "/nonexistent/perennial", ...variables },
    signal,
  });
  const exit = await runCli([...verb, ...options], registry, context);
  await close();
  return { exit, err: terminal.err.text() };
}

const kubeconfig = (server: string): string => `
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: "${server}"}}]
users: [{name: a, user: {token: a}}]`;
