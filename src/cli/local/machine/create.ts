import { commandLines } from "../../../api/command-lines.ts";
import { defineCommand } from "../../command.ts";
import { CliError } from "../../exit.ts";
import { flag } from "../../option.ts";
import { namesArgument, openMachines, setOption } from "./machines.ts";

/** `perennial local machine create` */
export const create = defineCommand({
  name: "create",
  summary: "Make bare machines and switch them on; one that is there is kept, one that is half made is finished",
  description:
    "Each is namespaces of this host, with a disk and an address of its own; machines of one set reach each other, and the host " +
    "reaches them. Takes Linux and root. The first on a host waits half a minute for its packages.",
  examples: ["perennial local machine create a b c w --bare"],
  args: { names: namesArgument },
  options: { bare: flag("With systemd, containerd and ctr, and nothing of Kubernetes"), set: setOption },
  async run({ args: { names }, options: { bare, set }, context }) {
    if (!bare) throw new CliError("usage", "machines that are not bare are made by Shoots: add --bare");
    const machines = await openMachines(set, context);
    for (const name of names) {
      await machines.create(name);
      const { address } = (await machines.list()).find((machine) => machine.name === name) ?? {};
      context.terminal.out.write(`${name} is on at ${address}\n`);
    }
    const [first = ""] = names;
    context.terminal.err.write(`Next: ${commandLines.enterMachine(first, set)}\n`);
  },
});
