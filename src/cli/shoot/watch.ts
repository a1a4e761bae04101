import { defineCommand } from "../command.ts";
import { clusterOptions } from "../connection.ts";
import { findShoot, namespaceOption, shootArgument } from "../find-shoot.ts";
import { followShoot } from "../display/follow.ts";
import { duration } from "../option.ts";

/** `perennial shoot watch` */
export const watch = defineCommand({
  name: "watch",
  summary: "Follow a Shoot's operation, step by step, until it is ready, hibernated or gone, or waits for an operator",
  examples: ["perennial shoot watch local", "perennial shoot watch local -n garden-dev --timeout 10m"],
  args: { shoot: shootArgument },
  options: { namespace: namespaceOption, timeout: duration("Give up following after this time"), ...clusterOptions },
  async run({ args, options, context }) {
    const garden = await context.garden(options);
    const shoot = await findShoot(garden, { shoot: args.shoot, namespace: options.namespace });
    return followShoot(context, { garden, flows: await context.flows(options), shoot, timeout: options.timeout });
  },
});
