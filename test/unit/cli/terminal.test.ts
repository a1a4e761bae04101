import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { askOn } from "../../../src/cli/display/terminal.ts";

it("the prompt answers what was typed", async () => {
  expect(await typing("local\r")).toBe("local");
});

it.each([
  ["Ctrl-C", "\u0003"],
  ["Ctrl-D", "\u0004"],
])("the prompt takes %s for an interruption, and says that nothing has happened", async (_, key) => {
  await expect(typing(key)).rejects.toMatchObject({
    exit: "interrupted",
    message: "interrupted: nothing was changed",
  });
});

/** The answer to a question on a terminal on which these keys are pressed once it was asked. */
function typing(keys: string): Promise<string> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  output.once("data", () => input.write(keys));
  return askOn(input, output, "Type the Shoot's name to confirm: ");
}
