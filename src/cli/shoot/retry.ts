import { commandLines } from "../../api/command-lines.ts";
import { defineCommand } from "../command.ts";
import { clusterOptions } from "../connection.ts";
import { CliError, explainError } from "../exit.ts";
import { findShoot, namespaceOption, shootArgument, shootRef } from "../find-shoot.ts";
import { watchOptions } from "../watching.ts";
import { followShoot, untilResumed } from "../display/follow.ts";
import { text } from "../option.ts";

/** `perennial shoot retry` */
export const retry = defineCommand({
  name: "retry",
  summary: "Let steps that are parked or wait for their next attempt go on now",
  description: "Only these steps are done again, each at the point where it stopped; nothing before them is repeated.",
  examples: ["perennial shoot retry local", "perennial shoot retry local --step infrastructure --watch"],
  args: { shoot: shootArgument },
  options: {
    namespace: namespaceOption,
    step: text("name", "Only this step"),
    ...watchOptions,
    ...clusterOptions,
  },
  async run({ args, options, context }) {
    const garden = await context.garden(options);
    const shoot = await findShoot(garden, { shoot: args.shoot, namespace: options.namespace });
    const flows = await context.flows(options);
    const { namespace, name } = shoot.metadata;
    const steps = await flows.retry(shootRef(shoot), options.step).catch((cause: unknown) => {
      const { exit, sentence } = explainError(cause);
      throw new CliError(
        exit,
        `cannot retry Shoot ${namespace}/${name}: ${sentence}; see '${commandLines.describeShoot(`${namespace}/${name}`)}'`,
        { cause },
      );
    });
    context.terminal.out.write(`retrying ${steps.join(", ")} of Shoot ${namespace}/${name}\n`);
    if (!options.watch) return undefined;
    const following = { garden, flows, shoot, timeout: options.timeout };
    await untilResumed(following, steps, context.signal);
    return followShoot(context, following);
  },
});
