import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { KUBELET_UNIT } from "../../api/names.ts";
import { removeEmptyFolder, removeFile } from "../../node-agent/whole-file.ts";
import { UNIT_FOLDER } from "../../node-agent/wanted.ts";
import { agentPlacesIn } from "./agent-places.ts";
import { departureNote } from "./departure.ts";
import { isThere } from "./is-there.ts";
import { DISK_TRIAL, placesIn } from "./places.ts";

/** What says that a machine is a node, or was begun to be made one. */
const SIGNS = ["/var/lib/gardenadm", "/var/lib/gardener-node-agent", `${UNIT_FOLDER}/${KUBELET_UNIT}`];

/** What only a node of the control plane has, from its first hour to its last. */
const CONTROL_PLANE_FILES = "/var/lib/static-pods/kube-apiserver";

/** Whether there is anything of a node on the machine whose `/` is this folder. */
export async function isNode(root: string): Promise<boolean> {
  return (await Promise.all(SIGNS.map(async (sign) => await isThere(join(root, sign))))).includes(true);
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
  const folder = dirname(lock);
  const entries = (await readdir(folder)).map((entry) => join(folder, entry));
  const isAttempt = entries.every((entry) => entry === journal || entry === lock);
  const { pool } = agentPlacesIn(root);
  if (!isAttempt || (await isThere(pool))) return;
  await removeFile(pool);
  await removeEmptyFolder(dirname(pool));
  for (const path of [journal, lock, join(root, "/var/lib", DISK_TRIAL)]) await rm(path, { force: true });
  await removeEmptyFolder(folder);
}

/**
 * Takes away gardenadm's own notes, and last the one by which a killed reset goes on: then the machine is bare. With the lock, another
 * command may begin, of which nothing is taken away.
 */
export async function forgetMachine(root: string): Promise<void> {
  const [note, { lock }] = [departureNote(root), placesIn(root)];
  const folder = dirname(note);
  const others = (await readdir(folder).catch(() => [])).map((entry) => join(folder, entry));
  for (const path of [...others.filter((one) => one !== note && one !== lock), lock, note])
    await rm(path, { recursive: true, force: true });
  await removeEmptyFolder(folder);
}
