import { resolve } from "node:path";
import type { Exit } from "../../cli/exit.ts";
import { demanded, flag, text } from "../../cli/option.ts";
import { commandLine, NEXT_AS_ADMINISTRATOR, option } from "../command-line.ts";
import { readConfiguration, type Configuration } from "../configuration/configuration.ts";
import { defineCommand, type GardenadmContext } from "../context.ts";
import { bundleKeyFile } from "../reconcile/backup.ts";
import { unlessOtherwiseBegun } from "../machine/gate.ts";
import { backupAccessOf } from "../configuration/backup.ts";
import { createTables, inWords } from "../steps/tables.ts";
import { createStartActions, type StartDeps } from "./actions.ts";
import type { ThisMachine } from "../machine/this-machine.ts";
import { placesIn } from "../machine/places.ts";
import { showPlan } from "./plan.ts";
import { reconcile } from "./reconcile.ts";
import { startControlPlane } from "./start-control-plane.ts";
import { isThere } from "../machine/is-there.ts";

/** `gardenadm init` */
export const init = defineCommand({
  name: "init",
  summary: "Make this machine the first node of a cluster that carries its own control plane",
  description:
    "It reads the configuration, makes the keys of the cluster, and begins etcd, API server, controller manager and scheduler as static pods. " +
    "Interrupted or killed, the same command goes on where it was; when all is done, it changes nothing.",
  examples: ["gardenadm init -d config --plan", "gardenadm init -d config"],
  args: {},
  options: {
    configDir: demanded(
      text("folder", "The folder with Shoot, CloudProfile, Project and what they need", "d"),
      "no configuration: name its folder with --config-dir",
    ),
    zone: text("zone", "The zone that this machine is in, where the pool of the control plane has several", "z"),
    nodeIp: text(
      "address",
      "The address of this machine at which the cluster is to reach it [that of its default route]",
    ),
    plan: flag(
      "Show each step, what it writes, and every reason why it cannot be, and change nothing but that containerd is started",
    ),
  },
  async run({ options, context }) {
    const configuration = await readConfiguration(options.configDir);
    const machine = await context.machine({ nodeIp: options.nodeIp });
    const wanted = { machine, configuration, zone: options.zone, nodeIp: options.nodeIp };
    return options.plan ? await showPlan(context, wanted) : await start(context, wanted);
  },
});

interface Wanted extends StartDeps {
  readonly nodeIp: string | undefined;
}

async function start(context: GardenadmContext, wanted: Wanted): Promise<Exit> {
  const { machine, configuration, zone, nodeIp } = wanted;
  const places = placesIn(machine.root);
  const { name, namespace } = configuration.shoot.metadata;
  const command = commandLine(
    ...["gardenadm", "init", "-d", resolve(configuration.folder)],
    ...option("--zone", zone),
    ...option("--node-ip", nodeIp),
  );
  const tables = createTables(context, { journal: places.journal, about: `${namespace}/${name}`, command });
  try {
    await unlessOtherwiseBegun(machine.root, async () => {
      const { actions, close, ...cluster } = createStartActions(wanted);
      try {
        await tables.run(
          startControlPlane,
          { imported: await isThere(places.imported) },
          async ({ action }, scope) => await actions[action](scope),
        );
        await reconcile(tables, { ...cluster, machine, configuration });
      } finally {
        await close();
      }
    });
  } catch (error) {
    throw inWords(error, context.signal);
  }
  context.terminal.err.write(reached(configuration, machine));
  return "done";
}

function reached({ shoot, objects, folder }: Configuration, { hostName }: ThisMachine): string {
  return (
    `\nThe control plane of Shoot ${shoot.metadata.namespace}/${shoot.metadata.name} runs on ${hostName}.\n` +
    `${NEXT_AS_ADMINISTRATOR}\n` +
    "      gardenadm token create --print-join-command\n" +
    (backupAccessOf({ shoot, objects }) === undefined
      ? ""
      : `Keep ${folder} on another machine, with its hidden file ${bundleKeyFile(folder)}: without that key, no backup opens.\n`)
  );
}
