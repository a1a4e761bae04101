import type { ExtensionObject } from "../api/extensions/kinds.ts";
import type { Version } from "./recording.ts";

/** The parts of a trial, each begun by one request of the caller, in the order in which a report shows them. */
export const chapterNames = [
  "create",
  "retrigger",
  "untriggered",
  "update",
  "failedShoot",
  "resumedShoot",
  "delete",
  "foreignType",
  "error",
  "recovery",
  "forceDeletion",
  "migrate",
  "migrated",
  "waitForState",
  "stateWritten",
  "restore",
  "deleteRestored",
  "crash",
  "crashedDeletion",
] as const;

/** A part of a trial. */
export type ChapterName = (typeof chapterNames)[number];

/** What one request led to. */
export interface Chapter {
  /** The object as the caller's request left it. */
  readonly asked: ExtensionObject;
  /** Every version that the API server told of from the request on, that one included. */
  readonly versions: readonly Version[];
  /** Whether what the caller waited for came; if not, what stood against it when the time was over. */
  readonly end: { readonly reached: true } | { readonly reached: false; readonly obstacle: string };
  /** How long the caller waited, in ms. */
  readonly took: number;
}

/** The versions after the request: what the controller wrote, or another client. */
export const answersIn = ({ versions }: Chapter): readonly Version[] => versions.slice(1);

/** The object as it was last seen. */
export const lastOf = ({ versions, asked }: Chapter): ExtensionObject => versions.at(-1)?.object ?? asked;

/** Whether the object went away. */
export const isGone = ({ versions }: Chapter): boolean => versions.at(-1)?.gone === true;
