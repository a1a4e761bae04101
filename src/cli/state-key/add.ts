import { readFile, rename, writeFile } from "node:fs/promises";
import { addStateKey } from "../../activities/state/keys.ts";
import { defineCommand } from "../command.ts";
import { CliError } from "../exit.ts";
import { required } from "../option.ts";

/** `perennial state-key add` */
export const add = defineCommand({
  name: "add",
  summary: "Make a key for what is kept of Shoots: for a seed, or for the garden",
  description:
    "Writes a new file, readable by you only. In a file that is there, the new key comes first, and the others go on opening what they opened.",
  examples: ["perennial state-key add seed-1 keys.json"],
  args: {
    holder: required("Whose key it is: a Seed's name, or garden"),
    file: required("The file of the holder's keys, a JWK set"),
  },
  options: {},
  async run({ args: { holder, file }, context }) {
    if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(holder))
      throw new CliError("usage", `a holder cannot be called "${holder}": say a Seed's name, or garden`);
    const text = addStateKey(holder, await readIfThere(file));
    await writeFile(`${file}.new`, text, { mode: 0o600, flag: "wx" });
    await rename(`${file}.new`, file);
    context.terminal.err.write(`key of ${holder} written to ${file}: it comes first\n`);
  },
});

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
