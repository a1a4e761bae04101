import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { defineCommand } from "./command.ts";
import { choice } from "./option.ts";
import { printObject } from "./display/output.ts";

/** `perennial version` */
export const version = defineCommand({
  name: "version",
  summary: "Print the version",
  description: "`perennial --version` and `perennial -V` do the same.",
  args: {},
  options: { output: choice(["json", "yaml"], "Output", "o") },
  async run({ options, context }) {
    const versions = { perennial: await readVersion(), node: process.versions.node };
    if (options.output) printObject(context.terminal.out, versions, options.output);
    else context.terminal.out.write(`perennial ${versions.perennial} (Node.js ${versions.node})\n`);
  },
});

/** The version of the package that this is. */
export async function readVersion(): Promise<string> {
  const file = fileURLToPath(new URL("../../package.json", import.meta.url));
  const parsed: unknown = JSON.parse(await readFile(file, "utf8"));
  return typeof parsed === "object" && parsed !== null && "version" in parsed ? String(parsed.version) : "unknown";
}
