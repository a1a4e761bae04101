import { commandLines } from "../../../api/command-lines.ts";
import type { BareMachines } from "../../../local/bare/machines.ts";
import type { Context } from "../../context.ts";
import { defineCommand } from "../../command.ts";
import { CliError } from "../../exit.ts";
import { choice, flag } from "../../option.ts";
import { namesArgument, openMachines, setOption } from "./machines.ts";

/** `perennial local machine create` */
export const create = defineCommand({
  name: "create",
  summary: "Make bare machines and switch them on; one that is there is kept, one that is half made is finished",
  description:
    "Each is namespaces of this host, with a disk and an address of its own; machines of one set reach each other, and the host " +
    "reaches them. Takes Linux and root. The first on a host waits half a minute for its packages. Where the host cannot boot a " +
    "systemd or has no packages for one, a runner starts the units and answers systemctl, over the host's own programs; a machine " +
    "keeps what it began with. With --gardenadm, /root/config on " +
    "each machine is a configuration for `gardenadm init -d config`, with the local provider, unless the folder is there already.",
  examples: ["perennial local machine create a b c w --bare", "perennial local machine create a --bare --gardenadm"],
  args: { names: namesArgument },
  options: {
    bare: flag("With an init system, containerd and ctr, and nothing of Kubernetes"),
    init: choice(["systemd", "runner"], "What starts their units [systemd, where this host can boot one]"),
    gardenadm: flag(
      "Give them gardenadm, too, the images that it starts, and a configuration: nothing has to be downloaded then",
    ),
    set: setOption,
  },
  async run({ args: { names }, options: { bare, gardenadm, init, set }, context }) {
    if (!bare) throw new CliError("usage", "machines that are not bare are made by Shoots: add --bare");
    const machines = await openMachines(set, context);
    for (const name of names) {
      await machines.create(name, { init });
      if (gardenadm) await provide(machines, name, context);
      const { address } = (await machines.list()).find((machine) => machine.name === name) ?? {};
      context.terminal.out.write(`${name} is on at ${address}\n`);
    }
    const [first = ""] = names;
    context.terminal.err.write(`Next: ${commandLines.enterMachine(first, set)}\n`);
  },
});

async function provide(machines: BareMachines, name: string, { terminal }: Pick<Context, "terminal">): Promise<void> {
  const [{ giveGardenadm }, { giveConfiguration }, { createLogger }] = await Promise.all([
    import("../../../local/bare/gardenadm.ts"),
    import("../../../local/bare/configuration.ts"),
    import("../../../log.ts"),
  ]);
  const log = createLogger({ name: "local", level: "silent" });
  await giveGardenadm(machines, name, { log, tell: (message) => void terminal.err.write(`${message}\n`) });
  await giveConfiguration(machines, name, { log });
}
