import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { EtcdRole } from "../../components/index.ts";
import type { Exchange } from "../../etcd-data/replace.ts";
import { writeWhole } from "../../node-agent/whole-file.ts";
import { parseJson } from "../../parsing.ts";
import { isThere, readIfThere } from "../machine/is-there.ts";

/** What was lost, for the people who own the cluster. */
export interface Loss {
  readonly role: EtcdRole;
  /** What was found, without a remedy. */
  readonly why: string;
  /** What it was begun anew with. */
  readonly from: string;
  /** Where the old data are now. */
  readonly aside?: string;
  /** Nothing is lost: it has learnt from the other members what they have. */
  readonly learnt?: true;
}

/** A loss, which counts only once data have been exchanged. */
interface KeptLoss extends Loss {
  readonly pending?: Exchange;
}

const fileOf = (root: string, role: EtcdRole): string => join(root, `/var/lib/gardenadm/backup/loss-${role}.json`);

/** Notes, so that it outlasts a power cut, what is to be told; with an exchange that is still to come, what will be once that has come. */
export async function keepLoss(root: string, loss: Loss, pending?: Exchange): Promise<void> {
  const kept: KeptLoss = {
    ...loss,
    ...(pending?.aside !== undefined && { aside: pending.aside }),
    ...(pending !== undefined && { pending }),
  };
  await writeWhole(fileOf(root, loss.role), Buffer.from(`${JSON.stringify(kept)}\n`), 0o600);
}

/** What has been lost, and was not told yet; undefined where nothing has, also where a kill came before the exchange. */
export async function readLoss(root: string, role: EtcdRole): Promise<Loss | undefined> {
  const text = await readIfThere(fileOf(root, role));
  if (text === undefined) return undefined;
  const { pending, ...loss } = parseJson(text, fileOf(root, role)) as KeptLoss;
  return pending === undefined || (await hasCome(pending)) ? loss : undefined;
}

/** Data that were there are aside then; where there were none, the new ones have no longer the name that they had before. */
const hasCome = async ({ aside, whole }: Exchange): Promise<boolean> =>
  aside === undefined ? whole === undefined || !(await isThere(whole)) : await isThere(aside);

/** Forgets it: it was told, or has not come about. */
export async function forgetLoss(root: string, role: EtcdRole): Promise<void> {
  await rm(fileOf(root, role), { force: true });
}
