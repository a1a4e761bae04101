import { defineCommand } from "../../command.ts";
import { namesArgument, openMachines, requireMachines, setOption } from "./machines.ts";

/** `perennial local machine wipe` */
export const wipe = defineCommand({
  name: "wipe",
  summary: "Cut the power of machines and switch them on with empty disks, as new ones with the same addresses",
  args: { names: namesArgument },
  options: { set: setOption },
  async run({ args: { names }, options: { set }, context }) {
    const machines = await openMachines(set, context);
    await requireMachines(machines, names, set);
    for (const name of names) {
      await machines.wipe(name);
      context.terminal.out.write(`${name} is as new\n`);
    }
  },
});
