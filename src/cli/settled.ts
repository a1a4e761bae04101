import { OPERATION_ANNOTATION } from "../api/annotations.ts";
import type { Shoot } from "../api/index.ts";

/** How a Shoot stands to what was asked of it: still at it, there, or waiting for somebody. */
export type Standing = "busy" | "ready" | "failed";

/** Where the Shoot stands. What was asked for and not yet begun counts as busy. */
export function standingOf({ metadata, status }: Shoot): Standing {
  const asked = metadata.annotations?.[OPERATION_ANNOTATION] !== undefined;
  const seen = status?.observedGeneration === metadata.generation;
  const state = status?.lastOperation?.state;
  if (state === "Failed" && seen && !asked) return "failed";
  const deleting = metadata.deletionTimestamp !== undefined;
  return state === "Succeeded" && seen && !asked && !deleting ? "ready" : "busy";
}
