import { FIRST_EPOCH, type Shoot } from "../../api/index.ts";
import type { Move } from "../../api/placement/move.ts";
import type { Migration } from "../../api/shoot/run.ts";

/** An operation that takes a Shoot on its way between two Seeds. */
export interface MoveOperation {
  readonly operation: "Migrate" | "Restore";
  readonly migration: Migration;
}

/**
 * What a Shoot needs next where it is; undefined when it stays. A Restore whose old Seed is to be taken over from begins
 * with one more Migrate, which flips to the same Seed again.
 */
export function nextOperation(move: Move): MoveOperation | undefined {
  switch (move.is) {
    case "settled":
      return undefined;
    case "leaving":
      return migrate(move, move.takeover === "approved");
    case "arriving":
      return move.takeover === "approved" ? migrate(move, true) : restore(move);
    case "returning":
      return restoreWhereItIs(move);
  }
}

/**
 * The epoch of the Shoot's next operation. A Shoot that returns gets a new one, once: what the cancelled migration still
 * does under the old epoch is refused.
 */
export function epochOf({ status }: Pick<Shoot, "status">, move: Move): number {
  const { epoch = FIRST_EPOCH, leaving } = status?.leadership ?? {};
  return move.is === "returning" && leaving === epoch ? epoch + 1 : epoch;
}

type Is<Where extends Move["is"]> = Extract<Move, { readonly is: Where }>;

const migrate = ({ source, destination }: Is<"leaving" | "arriving">, takeover: boolean): MoveOperation => ({
  operation: "Migrate",
  migration: { source, destination, takeover },
});

const restore = ({ source, destination, takeover, since }: Is<"arriving">): MoveOperation => ({
  operation: "Restore",
  migration: { source, destination, takeover: takeover === "done", ...(since && { since }) },
});

/** A Shoot whose migration was cancelled goes back the same way that it would have arrived: by Restore. */
const restoreWhereItIs = ({ leader }: Is<"returning">): MoveOperation => ({
  operation: "Restore",
  migration: { source: leader, destination: leader, takeover: false, returning: true },
});
