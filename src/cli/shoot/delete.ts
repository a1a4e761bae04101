import { CONFIRM_DELETION_ANNOTATION } from "../../api/annotations.ts";
import { refTo } from "../../kube/index.ts";
import { Shoot } from "../../api/index.ts";
import { defineCommand } from "../command.ts";
import { confirm } from "../confirm.ts";
import { clusterOptions } from "../connection.ts";
import { findShoot, namespaceOption, shootArgument } from "../find-shoot.ts";
import { watchOptions } from "../watching.ts";
import { followShoot } from "../display/follow.ts";
import { flag } from "../option.ts";

/** `perennial shoot delete` */
export const deleteShoot = defineCommand({
  name: "delete",
  summary: "Delete a Shoot and everything in it",
  description: `Sets the annotation ${CONFIRM_DELETION_ANNOTATION}=true, then deletes. The namespace is never guessed.`,
  examples: ["perennial shoot delete garden-dev/local --watch"],
  args: { shoot: shootArgument },
  options: {
    namespace: namespaceOption,
    yes: flag("Do not ask for confirmation", "y"),
    ...watchOptions,
    ...clusterOptions,
  },
  async run({ args, options, context }) {
    const garden = await context.garden(options);
    const shoot = await findShoot(garden, { shoot: args.shoot, namespace: options.namespace, exactly: true });
    const { namespace, name, uid } = shoot.metadata;
    if (!options.yes)
      await confirm(context.terminal, {
        doing: `deleting Shoot ${namespace}/${name}`,
        question: `Delete Shoot ${namespace}/${name} and everything in it?`,
        words: [name, `${namespace}/${name}`],
        otherwise: `Shoot ${namespace}/${name} is kept`,
      });
    const flows = options.watch ? await context.flows(options) : undefined;
    const ref = refTo(Shoot, { namespace, name });
    const confirmWith = async (value: string | null) =>
      await garden.client.patch(ref, { metadata: { annotations: { [CONFIRM_DELETION_ANNOTATION]: value } } });
    await confirmWith("true");
    try {
      await garden.client.remove(ref, uid === undefined ? {} : { uid });
    } catch (error) {
      // A deletion that is refused, as while the Shoot moves, leaves no door open for the next.
      await confirmWith(shoot.metadata.annotations?.[CONFIRM_DELETION_ANNOTATION] ?? null).catch(() => undefined);
      throw error;
    }
    context.terminal.out.write(`deletion of Shoot ${namespace}/${name} asked for\n`);
    if (flows) return followShoot(context, { garden, flows, shoot, timeout: options.timeout });
    return undefined;
  },
});
