import { defineCommand } from "../../command.ts";
import { namesArgument, openMachines, requireMachines, setOption } from "./machines.ts";

/** `perennial local machine on` */
export const on = defineCommand({
  name: "on",
  summary: "Switch machines on, with the disk and the address that they had; success when they are on",
  args: { names: namesArgument },
  options: { set: setOption },
  async run({ args: { names }, options: { set }, context }) {
    const machines = await openMachines(set, context);
    await requireMachines(machines, names, set);
    for (const name of names) {
      await machines.on(name);
      context.terminal.out.write(`${name} is on\n`);
    }
  },
});
