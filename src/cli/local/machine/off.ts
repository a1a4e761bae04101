import { defineCommand } from "../../command.ts";
import { flag } from "../../option.ts";
import { namesArgument, openMachines, requireMachines, setOption } from "./machines.ts";

/** `perennial local machine off` */
export const off = defineCommand({
  name: "off",
  summary: "Switch machines off; what is on their disks is kept",
  description:
    "Their init system stops all units first, for a minute at most. With --hard the power is cut: the network is gone at once, so " +
    "that peers get no answer any more, and everything is killed.",
  args: { names: namesArgument },
  options: { hard: flag("Cut the power"), set: setOption },
  async run({ args: { names }, options: { hard, set }, context }) {
    const machines = await openMachines(set, context);
    await requireMachines(machines, names, set);
    for (const name of names) {
      await (hard ? machines.cutPower(name) : machines.shutDown(name));
      context.terminal.out.write(`${name} is off\n`);
    }
  },
});
