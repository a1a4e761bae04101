import { expect, it } from "vitest";
import { confirm } from "../../../src/cli/confirm.ts";
import { fakeTerminal } from "./fake-terminal.ts";

const deletion = {
  doing: "deleting Shoot garden-dev/local",
  question: "Delete Shoot garden-dev/local?",
  words: ["local", "garden-dev/local"],
  otherwise: "Shoot garden-dev/local is kept",
} as const;

it.each(["local", " local ", "garden-dev/local"])(
  "a confirmation takes %j, as the command line does",
  async (typed) => {
    await expect(confirm(fakeTerminal(typed), deletion)).resolves.toBeUndefined();
  },
);

it.each(["yes", "", "Local", "garden-prod/local"])(
  "a confirmation refuses %j and says what it wants",
  async (typed) => {
    await expect(confirm(fakeTerminal(typed), deletion)).rejects.toMatchObject({
      exit: "failed",
      message: `Shoot garden-dev/local is kept: "${typed}" was typed, "local" would have confirmed it`,
    });
  },
);

it("a confirmation asks for the very word that confirms", async () => {
  const asked: string[] = [];
  const ask = async (question: string) => (asked.push(question), "local");
  await confirm({ ...fakeTerminal(), ask }, deletion);
  expect(asked).toEqual(['Delete Shoot garden-dev/local? Type "local" to confirm: ']);
});

it("a confirmation without a terminal names the option that takes its place", async () => {
  await expect(confirm(fakeTerminal(), deletion)).rejects.toMatchObject({
    exit: "usage",
    message: "deleting Shoot garden-dev/local has to be confirmed: add --yes",
  });
});
