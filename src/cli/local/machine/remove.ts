import { defineCommand } from "../../command.ts";
import { CliError } from "../../exit.ts";
import { anyNumber, flag } from "../../option.ts";
import { openMachines, setOption } from "./machines.ts";

/** `perennial local machine remove` */
export const remove = defineCommand({
  name: "remove",
  summary: "Take machines away with all that was made for them, and with the last one their network",
  examples: ["perennial local machine remove a", "perennial local machine remove --all"],
  args: { names: anyNumber("The machines") },
  options: { all: flag("All of the set"), set: setOption },
  async run({ args: { names }, options: { all, set }, context }) {
    if (all === names.length > 0) throw new CliError("usage", "say which machines to remove, or --all");
    const machines = await openMachines(set, context);
    const write = (name: string) => context.terminal.out.write(`${name} is gone\n`);
    if (all) {
      const found = await machines.list();
      await machines.removeAll();
      return found.forEach(({ name }) => write(name));
    }
    for (const name of names) {
      await machines.remove(name);
      write(name);
    }
  },
});
