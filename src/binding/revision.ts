import { randomBytes } from "node:crypto";

/**
 * A revision of a cluster: what its binding advances to again and again. A restored copy of the cluster remembers an earlier one.
 * As text: `<number>-<16 hex digits>`.
 */
export interface Revision {
  /** Grows by at least one with each revision. */
  readonly number: number;
  /** Tells the revisions of two copies apart that have counted to the same number. */
  readonly nonce: string;
}

/** The revision after this one and `other`, whichever is later. */
export function nextRevision(one: Revision | undefined, other: Revision | undefined): Revision {
  const number = Math.max(one?.number ?? 0, other?.number ?? 0) + 1;
  return { number, nonce: randomBytes(8).toString("hex") };
}

/** The text of a revision. */
export const formatRevision = ({ number, nonce }: Revision): string => `${number}-${nonce}`;

/** The revision that a text names; undefined for no text. Throws for any text that {@link formatRevision} does not write. */
export function parseRevision(text: string | undefined): Revision | undefined {
  if (text === undefined || text === "") return undefined;
  const [, number, nonce] = /^([1-9]\d{0,14})-([0-9a-f]{16})$/.exec(text) ?? [];
  if (number === undefined || nonce === undefined)
    throw new Error(`${JSON.stringify(text.slice(0, 80))} is not a revision, such as 17-0123456789abcdef`);
  return { number: Number(number), nonce };
}

/** Whether both are the same revision of the same cluster. */
export const isSameRevision = (one: Revision | undefined, other: Revision | undefined): boolean =>
  one !== undefined && one.number === other?.number && one.nonce === other.nonce;
