import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { StoreAccess } from "../../etcd-data/store.ts";
import { writeWhole } from "../../node-agent/whole-file.ts";
import { parseJson } from "../../parsing.ts";
import { readIfThere } from "./is-there.ts";

/** How a machine reaches the backups of its cluster, and whose they are. */
export interface BackupAccess extends StoreAccess {
  /** The uid of the Shoot. */
  readonly uid: string;
}

/**
 * Leaves on the machine, for root alone, how its agent reaches the backups, in the same bytes whichever program has found out; writes
 * nothing where the machine knows that already.
 */
export async function keepBackupAccess(root: string, access: BackupAccess): Promise<void> {
  if (isDeepStrictEqual(await readBackupAccess(root), access)) return;
  const { provider, secret, uid } = access;
  const ordered = { provider, secret: Object.fromEntries(Object.entries(secret).toSorted()), uid };
  await writeWhole(join(root, FILE), Buffer.from(`${JSON.stringify(ordered, null, 2)}\n`), 0o600);
}

/** The machine knows of no backups any more. */
export const forgetBackupAccess = async (root: string): Promise<void> => await rm(join(root, FILE), { force: true });

/** How the backups are reached from this machine; undefined where it was not told. */
export async function readBackupAccess(root: string): Promise<BackupAccess | undefined> {
  const text = await readIfThere(join(root, FILE));
  return text === undefined ? undefined : (parseJson(text, FILE) as BackupAccess);
}

const FILE = "/var/lib/gardenadm/backup/access.json";
