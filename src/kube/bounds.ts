import { measureJson } from "../json-measure.ts";

/** How much a client takes of what its cluster answers. */
export interface Bounds {
  /** In bytes: of an answer, and of a line of a watch. A longer one is an error. */
  readonly largestAnswer: number;
  /** In characters of JSON: what a list, or a watch, keeps of the objects of a kind. A cluster that has more is an error. */
  readonly largestList: number;
  /** How many pages a list may have: servers of users' own APIs may go on for ever. */
  readonly mostPages: number;
}

/**
 * For clusters whose users are not trusted with the memory of this process. They make as many objects as there is room for in etcd, each as
 * large as an API server takes, and servers of their own APIs answer anything.
 */
export const untrusted: Bounds = {
  largestAnswer: 4 * 2 ** 20, // twice what an object may have
  largestList: 16_000_000,
  mostPages: 20_000, // ten million objects; of large ones, more than etcd has room for
};

/** An answer that is longer than this client reads. */
export class AnswerTooLong extends Error {}

/** Throws where parsing would make far more of a text than it is long: a value of two bytes takes fifty in memory. */
export function refuseDense(json: Uint8Array, largestAnswer: number): void {
  const most = Math.min(largestAnswer / BYTES_PER_VALUE, MOST_VALUES);
  if (json.length <= most) return;
  const { values } = measureJson(json, { bytes: largestAnswer, values: most, depth: Infinity });
  if (values > most) throw new AnswerTooLong(`its answer has more than ${most} values`);
}

/** Names of fields and what is around them take more in objects that are not made for it. */
const BYTES_PER_VALUE = 8;

/** However long an answer may be: so many values take up to 50 MB, where each is an object with a field of its own. */
const MOST_VALUES = 2 ** 19;
