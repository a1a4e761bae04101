import { commandLines } from "../../api/command-lines.ts";
import { ControllerInstallation } from "../../api/index.ts";
import { defineCommand } from "../command.ts";
import { clusterOptions } from "../connection.ts";
import { CliError, explainError } from "../exit.ts";
import { required, text } from "../option.ts";

/** `perennial extension retry` */
export const retry = defineCommand({
  name: "retry",
  summary: "Let steps of an installation that are parked or wait for their next attempt go on now",
  examples: ["perennial extension retry provider-one-0a1b2c3d --step chart"],
  args: { installation: required("Name of the ControllerInstallation") },
  options: { step: text("name", "Only this step"), ...clusterOptions },
  async run({ args: { installation: name }, options, context }) {
    const { client } = await context.garden(options);
    const found = await client.read(ControllerInstallation, { name });
    if (found === undefined)
      throw new CliError(
        "notFound",
        `there is no ControllerInstallation ${name}: see '${commandLines.listExtensions()}'`,
      );
    const installations = await context.installations(options);
    const ref = { name, uid: found.metadata.uid ?? "" };
    const steps = await installations.retry(ref, options.step).catch((cause: unknown) => {
      const { exit, sentence } = explainError(cause);
      throw new CliError(exit, `cannot retry ControllerInstallation ${name}: ${sentence}`, { cause });
    });
    context.terminal.out.write(`retrying ${steps.join(", ")} of ControllerInstallation ${name}\n`);
  },
});
