import { isDeepStrictEqual } from "node:util";
import type { PublicStateKey } from "../../api/core/state-key.ts";
import { epochOfDataKey, makeDataKey, unwrapDataKey, wrapDataKey, type DataKey } from "./data-key.ts";
import type { StateKey } from "./keys.ts";
import { parseJson } from "../../parsing.ts";

/**
 * The data keys of one ShootState, as its readers find them: by a data key's id, that key wrapped for each of its
 * holders, by the id of the holder's key.
 */
export type Ring = Readonly<Record<string, Wraps>>;

type Wraps = Readonly<Record<string, string>>;

/** What a holder does with the rings of all Shoots: its own keys, the current one first, and the garden's public ones. */
export interface RingKeys {
  readonly own: readonly StateKey[];
  readonly garden: readonly PublicStateKey[];
}

/** The data keys of a ring that these keys open, by id. One that is wrapped for others, or was tampered with, is left out. */
export async function openRing(
  ring: Ring,
  uid: string,
  own: readonly StateKey[],
): Promise<ReadonlyMap<string, DataKey>> {
  const opened = await Promise.all(Object.entries(ring).map(([id, wraps]) => openOne(wraps, { uid, id }, own)));
  return new Map(opened.flatMap((key) => (key === undefined ? [] : [[key.id, key]])));
}

/** The data key that seals in this epoch, and the ring that it is in. */
export interface Sealing {
  readonly ring: Ring;
  readonly current: DataKey;
}

/**
 * Chooses the data key that seals in an epoch, and sees to it that exactly its holders can open it: the seed's worker and
 * the garden's, each with its current key. It makes a new one in a new epoch, because an earlier leader may remember the
 * old one, and when a key of a holder was replaced, because that may have leaked. While the data key is shared with a seed
 * that the Shoot is about to go to, it stays, and the new keys get it, too.
 */
export async function chooseDataKey(
  ring: Ring,
  opened: ReadonlyMap<string, DataKey>,
  { uid, epoch }: { readonly uid: string; readonly epoch: number },
  { own, garden }: RingKeys,
): Promise<Sealing> {
  const holders = currentOf(own, garden);
  const outdated = new Set([...own.map(({ id }) => id), ...garden.map(({ kid }) => kid)]);
  for (const { kid } of holders) outdated.delete(kid);
  for (const [id, wraps] of Object.entries(ring)) {
    const known = opened.get(id);
    if (known === undefined || epochOfDataKey(id) !== epoch) continue;
    const kids = Object.keys(wraps);
    if (holders.every(({ kid }) => Object.hasOwn(wraps, kid)) && !kids.some((kid) => outdated.has(kid)))
      return { ring, current: known };
    const shared = kids.filter((kid) => !outdated.has(kid) && !holders.some((holder) => holder.kid === kid));
    if (shared.length === 0) continue;
    const kept = Object.fromEntries(shared.map((kid) => [kid, wraps[kid] ?? ""]));
    return { ring: { ...ring, [id]: { ...kept, ...(await wrapForAll(known, uid, holders)) } }, current: known };
  }
  const current = makeDataKey(epoch);
  return { ring: { ...ring, [current.id]: await wrapForAll(current, uid, holders) }, current };
}

/** The ring without data keys that seal nothing any more; the very same one when all do. */
export function pruneRing(ring: Ring, used: ReadonlySet<string>): Ring {
  const kept = Object.entries(ring).filter(([id]) => used.has(id));
  return kept.length === Object.keys(ring).length ? ring : Object.fromEntries(kept);
}

/** Ids of the holders' keys for which data keys are wrapped, in order. */
export const holdersOf = (ring: Ring): string[] => [...new Set(Object.values(ring).flatMap(Object.keys))].sort();

/** Wraps a data key for each of these holders. */
export async function wrapForAll(key: DataKey, uid: string, holders: readonly PublicStateKey[]): Promise<Wraps> {
  const wraps = holders.map(async (holder) => [holder.kid, await wrapDataKey(key, uid, holder)] as const);
  return Object.fromEntries(await Promise.all(wraps));
}

/** Whether both say the same. */
export const isSameRing = (one: Ring, other: Ring): boolean => one === other || isDeepStrictEqual(one, other);

/** A text that is not ours is no ring: undefined. */
export function parseRing(text: string | undefined): Ring | undefined {
  if (text === undefined) return {};
  try {
    const ring = parseJson(text, "the ring") as Record<string, Record<string, unknown>>;
    const texts = Object.values(ring).flatMap((wraps) => Object.values(wraps));
    return texts.every((wrapped) => typeof wrapped === "string") ? (ring as Ring) : undefined;
  } catch {
    return undefined;
  }
}

function currentOf(own: readonly StateKey[], garden: readonly PublicStateKey[]): readonly PublicStateKey[] {
  const [seeds, gardens] = [own[0]?.publicKey, garden[0]];
  if (seeds === undefined || gardens === undefined) throw new Error("cannot seal a ShootState: a holder has no key");
  return [seeds, gardens];
}

async function openOne(
  wraps: Wraps,
  place: { readonly uid: string; readonly id: string },
  own: readonly StateKey[],
): Promise<DataKey | undefined> {
  for (const key of own) {
    const wrapped = wraps[key.id];
    if (wrapped === undefined) continue;
    const opened = await unwrapDataKey(wrapped, place, key).catch(() => undefined);
    if (opened !== undefined) return opened;
  }
  return undefined;
}
