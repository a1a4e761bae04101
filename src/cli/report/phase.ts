import { OPERATION_ANNOTATION } from "../../api/annotations.ts";
import type { Shoot } from "../../api/index.ts";
import { moveOf } from "../../api/placement/move.ts";
import { readTakeover } from "../../api/placement/takeover.ts";

/** How a Shoot stands to what was asked of it: still at it, there, or waiting for an operator. */
export type ShootPhase = "busy" | "ready" | "failed";

/** Where the Shoot stands. What was asked for and not yet begun counts as busy, and so does a Shoot between two Seeds. */
export function phaseOf(shoot: Shoot): ShootPhase {
  const { metadata, status } = shoot;
  const state = status?.lastOperation?.state;
  if (status?.observedGeneration !== metadata.generation || isAsked(shoot)) return "busy";
  if (state === "Failed") return "failed";
  const settled = metadata.deletionTimestamp === undefined && moveOf(shoot).is === "settled";
  return state === "Succeeded" && settled ? "ready" : "busy";
}

function isAsked(shoot: Shoot): boolean {
  return shoot.metadata.annotations?.[OPERATION_ANNOTATION] !== undefined || isApprovalNew(shoot);
}

/** A takeover that was approved becomes part of the status when its flow begins. */
function isApprovalNew(shoot: Shoot): boolean {
  const approval = readTakeover(shoot);
  return approval !== undefined && approval.at !== shoot.status?.takeover?.at;
}
