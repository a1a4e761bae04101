import { OPERATION_ANNOTATION } from "../../api/annotations.ts";
import { Shoot } from "../../api/index.ts";
import { refTo } from "../../kube/index.ts";
import { defineCommand } from "../command.ts";
import { clusterOptions } from "../connection.ts";
import { CliError } from "../exit.ts";
import { findShoot, namespaceOption, shootArgument } from "../find-shoot.ts";
import { watchOptions } from "../watching.ts";
import { followShoot } from "../display/follow.ts";

/** `perennial shoot reconcile` */
export const reconcile = defineCommand({
  name: "reconcile",
  summary: "Ask for a reconciliation of a Shoot",
  description: `Sets the annotation ${OPERATION_ANNOTATION}=reconcile, as kubectl annotate would.`,
  args: { shoot: shootArgument },
  options: {
    namespace: namespaceOption,
    ...watchOptions,
    ...clusterOptions,
  },
  async run({ args, options, context }) {
    const garden = await context.garden(options);
    const shoot = await findShoot(garden, { shoot: args.shoot, namespace: options.namespace });
    const { namespace, name, annotations } = shoot.metadata;
    const pending = annotations?.[OPERATION_ANNOTATION];
    if (pending !== undefined && pending !== "reconcile") {
      throw new CliError(
        "failed",
        `Shoot ${namespace}/${name} has an operation that has not begun (${OPERATION_ANNOTATION}=${pending}): wait for it, or remove the annotation`,
      );
    }
    const flows = options.watch ? await context.flows(options) : undefined;
    const asked = await garden.client.patch(refTo(Shoot, { namespace, name }), {
      metadata: { annotations: { [OPERATION_ANNOTATION]: "reconcile" } },
    });
    context.terminal.out.write(`reconciliation of Shoot ${namespace}/${name} asked for\n`);
    if (flows) return followShoot(context, { garden, flows, shoot: asked, timeout: options.timeout });
    return undefined;
  },
});
