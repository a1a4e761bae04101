import { readVersion } from "../package.ts";
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
