import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { printObject } from "../../../src/cli/display/output.ts";
import { paint } from "../../../src/cli/display/style.ts";
import { askOn, createOutput } from "../../../src/cli/display/terminal.ts";
import type { Tone } from "../../../src/cli/display/tones.ts";

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

it.each([
  ["erases the line above", "\u001B[1A\u001B[2K"],
  ["fills the clipboard", "\u001B]52;c;Y3VybCBldmls\u0007"],
  ["changes the window's title", "\u001B]0;ready\u001B\\"],
  ["hides what follows", "\u001B[8m"],
  ["hides what follows in a tone", "\u001B[32;8m"],
  ["goes back in its line", "\rready\b\b"],
  ["begins with a control character of Latin-1", "\u009B2J"],
])("a text of a seed that %s does not do so on the terminal", (_, command) => {
  const { output, text } = onStream();
  output.write(`EtcdHealthy  False  ${command}\n`);
  expect(text()).not.toMatch(/(?!\n)\p{Cc}/u);
});

it.each<Tone>(["good", "bad", "attention", "quiet", "strong"])(
  "tone %s, tabs and line breaks reach the stream",
  (tone) => {
    const { output, text } = onStream();
    const painted = paint({ ...output, colour: true }, tone, "text\t\n");
    output.write(painted);
    expect(text()).toBe(painted);
    expect(painted).toMatch(/\p{Cc}/u);
  },
);

it("a picture that is drawn again takes the place of the lines above", () => {
  const { output, text } = onStream();
  output.write("one\n", 2);
  expect(text()).toBe("\u001B[2A\u001B[0Jone\n");
});

it.each(["json", "yaml"] as const)("a control character in %s is escaped, and none is lost", (format) => {
  const { output, text } = onStream();
  const object = { message: "a\u001B[2J\u007F\u009B\r" };
  printObject(output, object, format);
  expect(text()).not.toMatch(/(?!\n)\p{Cc}/u);
  expect(parse(text())).toEqual(object);
});

/** An output, and the text that has reached its stream. */
function onStream() {
  const written: string[] = [];
  const write = (text: string | Uint8Array) => written.push(String(text)) > 0;
  return { output: createOutput({ columns: 80, rows: 24, write }), text: () => written.join("") };
}

/** The answer to a question on a terminal on which these keys are pressed once it was asked. */
function typing(keys: string): Promise<string> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  output.once("data", () => input.write(keys));
  return askOn(input, output, "Type the Shoot's name to confirm: ");
}
