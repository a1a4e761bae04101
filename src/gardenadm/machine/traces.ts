import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { KUBELET_UNIT } from "../../api/names.ts";
import { removeEmptyFolder, removeFile } from "../../node-agent/whole-file.ts";
import { UNIT_FOLDER } from "../../node-agent/wanted.ts";
import { agentPlacesIn } from "./agent-places.ts";
import { departureNote } from "./departure.ts";
import { isThere } from "./is-there.ts";
import { DISK_TRIAL, placesIn } from "./places.ts";

/** What says that a machine is a node, or was begun to be made one; besides, what gardenadm itself has noted. */
const SIGNS = ["/var/lib/gardener-node-agent", `${UNIT_FOLDER}/${KUBELET_UNIT}`];

/** What only a node of the control plane has, from its first hour to its last. */
const CONTROL_PLANE_FILES = "/var/lib/static-pods/kube-apiserver";

/** Whether there is anything of a node on the machine whose `/` is this folder. */
export async function isNode(root: string): Promise<boolean> {
  if ((await Promise.all(SIGNS.map(async (sign) => await isThere(join(root, sign))))).includes(true)) return true;
  return (await notesIn(root)).some((entry) => !isOfAttempt(entry, root));
}

/** The files and folders of gardenadm's own. */
async function notesIn(root: string): Promise<string[]> {
  const folder = dirname(placesIn(root).lock);
  return (await readdir(folder).catch(() => [])).map((entry) => join(folder, entry));
}

/** Whether a command that has made nothing of the machine yet leaves this: one that was killed in its preflight. */
function isOfAttempt(entry: string, root: string): boolean {
  const { journal, lock } = placesIn(root);
  return entry === journal || entry === lock;
}

/** Whether the machine has what nodes of a control plane have, also where its cluster does not know it as one. */
export const carriesControlPlane = async (root: string): Promise<boolean> =>
  await isThere(join(root, CONTROL_PLANE_FILES));

/** Whether a kubelet was given to the machine. */
export const hasKubelet = async (root: string): Promise<boolean> =>
  await isThere(join(root, UNIT_FOLDER, KUBELET_UNIT));

/**
 * Takes away what a join that was refused has left, and one that was killed before its first file was whole: the journal, a draft of that
 * file, and what the disk was tried with. With the lock, as below. Of a machine that is a node, or was begun to be one, nothing goes.
 */
export async function forgetAttempt(root: string): Promise<void> {
  const { journal, lock } = placesIn(root);
  const isAttempt = (await notesIn(root)).every((entry) => isOfAttempt(entry, root));
  const { pool } = agentPlacesIn(root);
  if (!isAttempt || (await isThere(pool))) return;
  await removeFile(pool);
  await removeEmptyFolder(dirname(pool));
  for (const path of [journal, lock, join(root, "/var/lib", DISK_TRIAL)]) await rm(path, { force: true });
  await removeEmptyFolder(dirname(lock));
}

/**
 * Takes away gardenadm's own notes, and last the one by which a killed reset goes on: then the machine is bare. With the lock, another
 * command may begin, of which nothing is taken away.
 */
export async function forgetMachine(root: string): Promise<void> {
  const [note, { lock }] = [departureNote(root), placesIn(root)];
  const others = (await notesIn(root)).filter((one) => one !== note && one !== lock);
  for (const path of [...others, lock, note]) await rm(path, { recursive: true, force: true });
  await removeEmptyFolder(dirname(note));
}
