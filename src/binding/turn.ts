import { randomBytes } from "node:crypto";

/**
 * A turn of a cluster: what its binding advances to again and again. A restored copy of the cluster remembers an earlier one.
 * As text: `<number>-<16 hex digits>`.
 */
export interface Turn {
  /** Grows by at least one with each turn. */
  readonly number: number;
  /** Tells the turns of two copies apart that have counted to the same number. */
  readonly nonce: string;
}

/** The turn after this one and `other`, whichever is later. */
export function nextTurn(one: Turn | undefined, other: Turn | undefined): Turn {
  const number = Math.max(one?.number ?? 0, other?.number ?? 0) + 1;
  return { number, nonce: randomBytes(8).toString("hex") };
}

/** The text of a turn. */
export const formatTurn = ({ number, nonce }: Turn): string => `${number}-${nonce}`;

/** The turn that a text names; undefined for no text. Throws for any text that {@link formatTurn} does not write. */
export function parseTurn(text: string | undefined): Turn | undefined {
  if (text === undefined || text === "") return undefined;
  const [, number, nonce] = /^([1-9]\d{0,14})-([0-9a-f]{16})$/.exec(text) ?? [];
  if (number === undefined || nonce === undefined)
    throw new Error(`${JSON.stringify(text.slice(0, 80))} is not a turn, such as 17-0123456789abcdef`);
  return { number: Number(number), nonce };
}

/** Whether both are the same turn of the same cluster. */
export const isSameTurn = (one: Turn | undefined, other: Turn | undefined): boolean =>
  one !== undefined && one.number === other?.number && one.nonce === other.nonce;
