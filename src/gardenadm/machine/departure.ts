import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CliError } from "../../cli/exit.ts";
import { withLock } from "../../in-process/lock.ts";
import { removeEmptyFolder, writeWhole } from "../../node-agent/whole-file.ts";
import { placesIn } from "./places.ts";
import { restoreFaults } from "./begun-restore.ts";
import { isThere } from "./is-there.ts";

/** Says on the machine whose `/` is this folder that its cluster has let it go: nothing here leads to that cluster from now on. */
const noteIn = (root: string): string => join(root, "/var/lib/gardenadm/left-cluster");

/** What says that a machine is a node, or was begun to be made one. */
const SIGNS = ["/var/lib/gardenadm", "/var/lib/gardener-node-agent", "/etc/systemd/system/kubelet.service"];

/** What only a node of the control plane has, from its first hour to its last. */
const CONTROL_PLANE_FILES = "/var/lib/static-pods/kube-apiserver";

/** Notes, so that it outlasts a power cut, that only this machine is left to do: what leads to the cluster goes next. */
export async function noteDeparture(root: string): Promise<void> {
  await mkdir(dirname(noteIn(root)), { recursive: true, mode: 0o700 });
  await writeWhole(noteIn(root), Buffer.from(`${new Date().toISOString()}\n`), 0o600);
}

/** Whether the cluster has let the machine go. */
export const hasLeft = async (root: string): Promise<boolean> => await isThere(noteIn(root));

/**
 * Does the work of a command that makes the machine a node, with the machine's lock; `from` is what a restore restores from. Throws a
 * CliError while a reset of it is not done, which would go on later and take the new node for the one that its cluster has let go, or
 * another restore is not; and what `withLock` throws.
 */
export async function unlessOtherwiseBegun<T>(root: string, work: () => Promise<T>, from?: string): Promise<T> {
  return await withLock(placesIn(root).lock, async () => {
    const [fault] = await begunFaults(root, from);
    if (fault !== undefined) throw new CliError("failed", fault);
    return await work();
  });
}

/** Why the machine cannot become a node now: a reset of it was begun, or a restore of another source than this one. */
export async function begunFaults(root: string, from?: string): Promise<readonly string[]> {
  const leaves = await hasLeft(root);
  return [
    ...(leaves ? ["a reset of this machine is not done: give 'gardenadm reset' once more"] : []),
    ...(await restoreFaults(root, from)),
  ];
}

/** Whether there is anything of a node on the machine. */
export async function isNode(root: string): Promise<boolean> {
  return (await Promise.all(SIGNS.map(async (sign) => await isThere(join(root, sign))))).includes(true);
}

/** Whether the machine has what nodes of a control plane have, also where its cluster does not know it as one. */
export const carriesControlPlane = async (root: string): Promise<boolean> =>
  await isThere(join(root, CONTROL_PLANE_FILES));

/**
 * Takes away gardenadm's own notes, and last the one by which a killed reset goes on: then the machine is bare. With the lock, another
 * command may begin, of which nothing is taken away.
 */
export async function forgetMachine(root: string): Promise<void> {
  const [note, { lock }] = [noteIn(root), placesIn(root)];
  const folder = dirname(note);
  const others = (await readdir(folder).catch(() => [])).map((entry) => join(folder, entry));
  for (const path of [...others.filter((one) => one !== note && one !== lock), lock, note])
    await rm(path, { recursive: true, force: true });
  await removeEmptyFolder(folder);
}
