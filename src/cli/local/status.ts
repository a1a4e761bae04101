import { commandLines } from "../../api/command-lines.ts";
import { defineCommand } from "../command.ts";
import { CliError } from "../exit.ts";
import { chooseEnvironment, nameOption } from "./options.ts";
import { renderStatus } from "./summary.ts";
import { choice } from "../option.ts";
import { printObject } from "../display/output.ts";
import { stateOf } from "../report/ailing.ts";

/** `perennial local status` */
export const status = defineCommand({
  name: "status",
  summary: "Show what runs in the local environment; fails when a part of it is dead or stopped",
  args: {},
  options: { name: nameOption, output: choice(["json", "yaml"], "Output", "o") },
  async run({ options, context }) {
    const { readStatus } = await import("../../local/environment/status.ts");
    const environment = chooseEnvironment(options.name, context.variables);
    const found = await readStatus(environment);
    if (!found)
      throw new CliError(
        "notFound",
        `environment ${environment.name ?? "local"} is not up: start it with '${commandLines.localUp(environment.name)}'`,
      );
    const { out } = context.terminal;
    if (options.output) printObject(out, found, options.output);
    else out.write(renderStatus(out, found, context.now()));
    return [...found.processes, ...found.machines].every((one) => stateOf(one) === "Running") ? "done" : "failed";
  },
});
