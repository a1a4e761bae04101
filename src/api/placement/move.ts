import { commandLines } from "../command-lines.ts";
import { CANCEL_MIGRATION_ANNOTATION } from "../annotations.ts";
import type { Shoot } from "../shoot/shoot.ts";
import { readTakeover } from "./takeover.ts";

/**
 * Where a Shoot is among the Seeds. `leader` is the Seed that may act for the Shoot now. A Shoot that is leaving can be
 * called back; one that is arriving is restored on the Seed that leads already, and there is only forward.
 */
export type Move =
  | {
      readonly is: "settled";
      /** Undefined before the first operation. */
      readonly leader: string | undefined;
    }
  | {
      readonly is: "leaving";
      readonly leader: string;
      readonly source: string;
      readonly destination: string;
      readonly takeover: "none" | "approved";
    }
  | {
      readonly is: "arriving";
      readonly leader: string;
      readonly source: string;
      readonly destination: string;
      /** `done`: the destination leads by a takeover; `approved`: it leads by a planned move, and is to lead once more by a takeover. */
      readonly takeover: "none" | "approved" | "done";
      /** When all of the zone's servers named the destination, RFC 3339. */
      readonly since?: string;
    }
  | {
      /** The Shoot was called back, and is restored on the Seed that it was about to leave. */
      readonly is: "returning";
      readonly leader: string;
    };

/**
 * Where the Shoot is, from its spec, its status and its annotations alone. It moves from the change of its spec until
 * Restore has succeeded, there or back; a Shoot of which the deletion has begun stays. Pure.
 */
export function moveOf({ metadata, spec, status = {} }: Placed): Move {
  const { leadership, seedName, lastOperation } = status;
  const leader = leadership?.seed ?? seedName;
  const destination = spec.seedName;
  if (leader === undefined || destination === undefined || lastOperation?.type === "Delete")
    return { is: "settled", leader };
  if (destination !== leader)
    return { is: "leaving", leader, source: leader, destination, takeover: approvalOf({ metadata }) };
  return hasArrived({ status }) ? { is: "settled", leader } : restoreOf({ metadata, status }, leader);
}

/** The old Seed, as long as the move needs it: until then it can be taken over from. */
export function neededSource(move: Move): string | undefined {
  switch (move.is) {
    case "leaving":
      return move.source;
    case "arriving":
      return move.takeover === "done" ? undefined : move.source;
    case "settled":
    case "returning":
      return undefined;
  }
}

/** Whether the Shoot is in no move: its last operation is another one, or a Restore that has succeeded. */
export function hasArrived({ status }: Pick<Placed, "status">): boolean {
  const { type, state } = status?.lastOperation ?? {};
  return type !== "Migrate" && (type !== "Restore" || state === "Succeeded");
}

/** Says which move is under way, and what can be done about it now. */
export function describeMove({ namespace, name }: Shoot["metadata"], move: Move): string {
  const shoot = `${namespace}/${name}`;
  switch (move.is) {
    case "settled":
      return "the Shoot is not on its way to another Seed";
    case "leaving":
      return `the Shoot is moving from Seed ${move.source} to Seed ${move.destination}: wait until it is there, or call it back: ${commandLines.cancelMigration(shoot)}`;
    case "arriving":
    case "returning":
      return `the Shoot is being restored on Seed ${move.leader}, where there is only forward: wait until Restore has succeeded, or if that Seed is dead: ${commandLines.takeOver(shoot)}`;
  }
}

/** Restore is not over on the Seed that leads: the Shoot has come from another one, or was about to leave. */
function restoreOf({ metadata, status }: Pick<Placed, "metadata" | "status">, leader: string): Move {
  const { previousSeed: source, takeover, since } = status?.leadership ?? {};
  if (source === undefined || isCalledBack({ metadata, status })) return { is: "returning", leader };
  const way = { source, destination: leader, takeover: takeover ? "done" : approvalOf({ metadata }) } as const;
  return { is: "arriving", leader, ...way, ...(since !== undefined && { since }) };
}

/** The annotations count only for the epoch that the Shoot was about to leave: after a flip, an old one calls no Shoot back. */
function isCalledBack({ metadata, status }: Pick<Placed, "metadata" | "status">): boolean {
  const { epoch, leaving, takeover } = status?.leadership ?? {};
  if (leaving !== epoch) return false;
  const cancelled = metadata.annotations?.[CANCEL_MIGRATION_ANNOTATION] === "true";
  return cancelled || takeover === true || approvalOf({ metadata }) === "none";
}

const approvalOf = (shoot: Pick<Placed, "metadata">): "none" | "approved" =>
  readTakeover(shoot) === undefined ? "none" : "approved";

/** What of a Shoot says where it is. */
interface Placed {
  readonly metadata: Pick<Shoot["metadata"], "annotations">;
  readonly spec: Pick<Shoot["spec"], "seedName">;
  readonly status?: Pick<NonNullable<Shoot["status"]>, "seedName" | "leadership" | "lastOperation"> | undefined;
}
