import { expect, it } from "vitest";
import { createContext } from "../../../src/cli/connection.ts";
import { runCli } from "../../../src/cli/perennial.ts";
import { registry } from "../../../src/cli/registry.ts";
import { fakeTerminal } from "./fake-terminal.ts";

it.each(["garden-dev/", "/local", "a/b/c", "", "/", "Local", "garden-dev/local name"])(
  "the command line refuses %j as the name of a Shoot before it looks for a garden, and says what is expected",
  async (name) => {
    const sentence = `error: "${name}" names no Shoot: say NAME or NAMESPACE/NAME\n`;
    for (const verb of ["describe", "delete", "kubeconfig"])
      expect(await run("shoot", verb, name)).toEqual({ exit: 2, err: sentence });
  },
);

it.each(["a/b/c", "garden-dev/local/"])("the verb flow show takes %j for no workflow's id", async (name) => {
  const sentence = `error: "${name}" names no Shoot: say NAME, NAMESPACE/NAME or the id of a workflow\n`;
  expect(await run("flow", "show", name)).toEqual({ exit: 2, err: sentence });
});

it.each(["local", "garden-dev/", 'garden-dev/local" OR ShootName != "'])(
  "the verb flow list asks for the operations of a Shoot with its namespace only, and not of %j",
  async (name) => {
    const sentence = `error: --shoot cannot be "${name}": say NAMESPACE/NAME\n`;
    expect(await run("flow", "list", "--shoot", name)).toEqual({ exit: 2, err: sentence });
  },
);

it.each(["namespace", "kubeconfig", "temporal"])(
  "the command line refuses an empty --%s instead of taking its default",
  async (option) => {
    const { exit, err } = await run("shoot", "describe", "local", `--${option}`, "");
    expect({ exit, err }).toMatchObject({
      exit: 2,
      err: expect.stringMatching(`^error: --${option} cannot be "": say --${option} [A-Z]+\n$`),
    });
  },
);

async function run(...argv: readonly string[]) {
  const terminal = fakeTerminal();
  const variables = { PERENNIAL_STATE_DIR: "/nonexistent/perennial" };
  const { context } = createContext({ terminal, variables, signal: new AbortController().signal });
  const exit = await runCli(argv, registry, context);
  return { exit, err: terminal.err.text() };
}
