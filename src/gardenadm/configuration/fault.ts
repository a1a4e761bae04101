import type { KubeObject } from "../../api/schema/meta.ts";

/** Where something is wrong in a configuration, as far as it is known. */
export interface FaultPlace {
  /** Below the folder. */
  readonly file?: string;
  /** The kind and name of the object, as `Shoot garden/one`. */
  readonly object?: string;
  /** The path of the field, as `spec.provider.workers[0].name`. */
  readonly field?: string;
}

/** What is wrong with a configuration: one sentence that says where, what, and what to do. */
export interface Fault extends FaultPlace {
  readonly sentence: string;
}

/** A fault; `message` ends its sentence and holds the remedy. */
export function createFault(place: FaultPlace, message: string): Fault {
  const where = [place.file, place.object, place.field].filter((one) => one !== undefined).map(onOneLine);
  return { ...place, sentence: [...where, onOneLine(message)].join(": ") };
}

/** What errors call an object: its kind, and its name with its namespace. */
export function nameOf({ kind, metadata: { namespace, name } }: KubeObject): string {
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

/** What users wrote may hold line breaks and control characters, which would forge lines of a terminal. */
function onOneLine(text: string): string {
  const shown = text.replaceAll(/\p{Cc}/gu, "?");
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…` : shown;
}

const LONGEST = 400;
