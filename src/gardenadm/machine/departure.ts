import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeWhole } from "../../node-agent/whole-file.ts";
import { isThere } from "./is-there.ts";

/** The note on the machine whose `/` is this folder that its cluster has let it go: nothing here leads to that cluster from then on. */
export const departureNote = (root: string): string => join(root, "/var/lib/gardenadm/left-cluster");

/** Notes, so that it outlasts a power cut, that only this machine is left to do: what leads to the cluster goes next. */
export async function noteDeparture(root: string): Promise<void> {
  const note = departureNote(root);
  await mkdir(dirname(note), { recursive: true, mode: 0o700 });
  await writeWhole(note, Buffer.from(`${new Date().toISOString()}\n`), 0o600);
}

/** Whether the cluster has let the machine go. */
export const hasLeft = async (root: string): Promise<boolean> => await isThere(departureNote(root));
