import { resolve } from "node:path";
import { CliError, type Exit } from "../../cli/exit.ts";
import { demanded, flag, text } from "../../cli/option.ts";
import { unlessOtherwiseBegun } from "../machine/gate.ts";
import { commandLine, NEXT_AS_ADMINISTRATOR, option } from "../command-line.ts";
import { readConfiguration, type Configuration } from "../configuration/configuration.ts";
import { defineCommand, type GardenadmContext } from "../context.ts";
import { createStartActions } from "../init/actions.ts";
import type { ThisMachine } from "../machine/this-machine.ts";
import { placesIn } from "../machine/places.ts";
import { reconcile } from "../init/reconcile.ts";
import { createTables, inWords, type Tables } from "../steps/tables.ts";
import { createBackupRestoreActions } from "./backup-actions.ts";
import { createMemberRestoreActions } from "./member-actions.ts";
import { forgetBegun, readBegun } from "../machine/begun-restore.ts";
import { restoreFromMember } from "./restore-from-member.ts";
import { wholePath } from "./source.ts";
import { restoreFromBackup, type BackupRestoreAction } from "./restore-from-backup.ts";
import { isThere } from "../machine/is-there.ts";

/** `gardenadm restore` */
export const restore = defineCommand({
  name: "restore",
  summary: "Bring a cluster back whose control plane is lost: from a backup, or from the member that has survived",
  description:
    "On a fresh machine, the control plane comes back with the same authorities and the etcd of a snapshot: kubeconfigs and workers go on, and what was written since is lost. " +
    "On the only machine that is left of several, --from member makes a control plane of one node out of what it has; others join again. " +
    "Interrupted or killed, the same command goes on where it was.",
  examples: [
    "gardenadm restore -d config --from latest",
    "gardenadm restore -d config --from member --yes-quorum-is-lost",
    "gardenadm restore -d config --from /mnt/snapshot.db --key backup-keys.json",
  ],
  args: {},
  options: {
    configDir: demanded(
      text("folder", "The folder with the configuration that `gardenadm init` was given", "d"),
      "no configuration: name its folder with --config-dir",
    ),
    from: demanded(
      text("source", "latest, the name of a snapshot in the bucket, a file that has its .bundle beside it, or member"),
      "nothing says what to restore from: add --from latest",
    ),
    key: text("file", "The operator's key file, which opens backups [.backup-keys.json in the configuration's folder]"),
    zone: text("zone", "The zone that a fresh machine is in, where the pool of the control plane has several", "z"),
    nodeIp: text(
      "address",
      "The address of this machine at which the cluster is to reach it [that of its default route]",
    ),
    yesQuorumIsLost: flag("With --from member: the members that do not answer are lost for good, and stay off"),
  },
  async run({ options: { configDir, from, key, zone, nodeIp, yesQuorumIsLost }, context }) {
    const configuration = await readConfiguration(configDir);
    const wanted = { configuration, from: await wholePath(from), key, zone, nodeIp, quorumIsLost: yesQuorumIsLost };
    return await start(context, await context.machine({ nodeIp }), wanted);
  },
});

interface RestoreWords {
  readonly configuration: Pick<Configuration, "folder">;
  readonly from: string;
  readonly key: string | undefined;
  readonly zone: string | undefined;
  readonly nodeIp?: string | undefined;
  readonly quorumIsLost: boolean;
}

interface Wanted extends RestoreWords {
  readonly configuration: Configuration;
}

async function start(context: GardenadmContext, machine: ThisMachine, wanted: Wanted): Promise<Exit> {
  const places = placesIn(machine.root);
  const { name, namespace } = wanted.configuration.shoot.metadata;
  const about = `${namespace}/${name}`;
  const tables = createTables(context, { journal: places.journal, about, command: commandOf(wanted) });
  try {
    const work = async () => {
      if (wanted.from !== "member") await refuseRunning(machine.root);
      await (wanted.from === "member" ? runMember : runBackup)(tables, machine, wanted);
      await forgetBegun(machine.root);
    };
    await unlessOtherwiseBegun(machine.root, work, wanted.from);
  } catch (error) {
    throw inWords(error, context.signal);
  }
  context.terminal.err.write(
    `\nShoot ${namespace}/${name} is back, on ${machine.hostName}.\n` +
      `${NEXT_AS_ADMINISTRATOR}\n` +
      "      gardenadm token create --control-plane --print-join-command\n",
  );
  return "done";
}

/** The command line that goes on with such a restore, from wherever it is given. */
export function commandOf({ configuration: { folder }, from, key, zone, nodeIp, quorumIsLost }: RestoreWords): string {
  return commandLine(
    ...["gardenadm", "restore", "-d", resolve(folder), "--from", from],
    ...option("--key", key && resolve(key)),
    ...option("--zone", zone),
    ...option("--node-ip", nodeIp),
    ...(quorumIsLost ? ["--yes-quorum-is-lost"] : []),
  );
}

const CARRIES = "this machine carries a control plane already, and its data would be lost: restore on a fresh machine";

const BEGUN =
  "'gardenadm init' was begun on this machine, and has made keys of another cluster: take away with 'gardenadm reset --machine-only' what it has left, and restore then";

/** Throws a CliError where a control plane is on the machine whose `/` is this folder, or was begun, and no restore of one. */
export async function refuseRunning(root: string): Promise<void> {
  const { shootUid, imported } = placesIn(root);
  if ((await readBegun(root)) !== undefined || !(await isThere(shootUid))) return;
  throw new CliError("failed", (await isThere(imported)) ? CARRIES : BEGUN);
}

async function runBackup(tables: Tables, machine: ThisMachine, wanted: Wanted): Promise<void> {
  const { configuration, from, key, zone } = wanted;
  const start = createStartActions({ machine, configuration, zone });
  const { server } = start;
  const own = createBackupRestoreActions({ machine, configuration, from, key, server });
  const isOwn = (action: string): action is BackupRestoreAction => action in own;
  try {
    const imported = await isThere(placesIn(machine.root).imported);
    await tables.run(restoreFromBackup, { imported }, async ({ action }, scope) => {
      await (isOwn(action) ? own[action](scope) : start.actions[action](scope));
    });
    await reconcile(tables, { ...start, machine, configuration, isRestored: true });
  } finally {
    await start.close();
  }
}

async function runMember(tables: Tables, machine: ThisMachine, { configuration, quorumIsLost }: Wanted): Promise<void> {
  const start = createStartActions({ machine, configuration });
  const { server, within } = start;
  const actions = {
    ...createMemberRestoreActions({ machine, configuration, quorumIsLost, server }),
    turn: start.actions.turn,
  };
  try {
    await tables.run(restoreFromMember, undefined, async ({ action }, scope) => await actions[action](within(scope)));
    await reconcile(tables, { ...start, machine, configuration, isRestored: true });
  } finally {
    await start.close();
  }
}
