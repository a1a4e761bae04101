import { createMemory, GARDEN_ROLE, revisionOf } from "../binding/memory.ts";
import { formatRevision } from "../binding/revision.ts";
import { defineCommand } from "./command.ts";
import { confirm } from "./confirm.ts";
import { clusterOptions } from "./connection.ts";
import { CliError } from "./exit.ts";
import { flag } from "./option.ts";
import { rebindRegister } from "./rebind-register.ts";

/** `perennial garden rebind` */
export const rebindGarden = defineCommand({
  name: "rebind",
  summary: "Decide that this is the garden of Temporal's namespace, after it or Temporal was restored from a backup",
  description:
    "The processes of a garden that is behind refuse to start. After this they start within half a minute, and those of every other " +
    "copy of the garden end. Switch off the other copies first.",
  examples: ["perennial garden rebind --kubeconfig garden.yaml"],
  args: {},
  options: { yes: flag("Do not ask for confirmation", "y"), ...clusterOptions },
  async run({ options, context }) {
    const { client } = await context.garden(options);
    const { memory } = await createMemory(client, GARDEN_ROLE).read();
    const to = revisionOf(memory);
    if (to === undefined)
      throw new CliError("failed", `garden ${client.server} has no revision yet: start its manager, which takes one`);
    if (!options.yes)
      await confirm(context.terminal, {
        doing: "rebinding Temporal's namespace",
        question: `Make ${client.server}, at revision ${formatRevision(to)}, the garden of Temporal's namespace? Every other copy of it has to be off.`,
        words: ["garden"],
        otherwise: "Temporal's namespace stays bound as it is",
      });
    await rebindRegister(await context.gardenRegister(options), to, "Temporal's namespace");
    context.terminal.out.write(`Temporal's namespace will belong to ${client.server} as soon as its manager runs\n`);
  },
});
