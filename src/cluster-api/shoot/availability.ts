import type { Condition } from "../../api/cluster-api/index.ts";
import type { Shoot } from "../../api/index.ts";
import { moveOf } from "../../api/placement/move.ts";
import { MOVING, MOVING_GRACE } from "../endpoint/moving.ts";

/** How a control plane is, as its condition Available says it; without times. */
export type Availability = Pick<Condition, "status" | "reason" | "message">;

/** What is known of a control plane besides its Shoot; times are ms since the epoch. */
export interface Seen {
  /** What condition Available said last. */
  readonly before?: Pick<Condition, "status"> | undefined;
  /** Since when the API server has not answered us; undefined while it answers, or is not asked. */
  readonly silentSince?: number | undefined;
  readonly now: number;
}

/**
 * Whether a control plane is available: the Shoot's conditions APIServerAvailable and ControlPlaneHealthy are. One that hibernates
 * is not, by intention. One that moves to another Seed stays as it was, for as long as its API server is away no longer than
 * {@link MOVING_GRACE}, which is core's own grace, too. Pure.
 */
export function availabilityOf(shoot: Shoot, { before, silentSince = Infinity, now }: Seen): Availability {
  const { spec, status } = shoot;
  if (spec.hibernation?.enabled === true || status?.hibernated === true)
    return { status: "False", reason: "Hibernated", message: "the Shoot hibernates: its control plane does not run" };
  const troubles = types.flatMap((type) => troubleOf(shoot, type) ?? []);
  if (moveOf(shoot).is !== "settled" && before !== undefined) {
    const gap = now - Math.min(silentSince, ...troubles.map(({ since }) => since));
    if (gap < MOVING_GRACE)
      return { status: before.status, reason: MOVING, message: "the control plane moves to another Seed" };
    if (troubles.length === 0)
      return { status: "False", reason: MOVING, message: "the API server is away for too long" };
  }
  return troubles[0]?.said ?? { status: "True", reason: "Available", message: "" };
}

const types = ["APIServerAvailable", "ControlPlaneHealthy"] as const;

interface Trouble {
  readonly said: Availability;
  /** In ms since the epoch. */
  readonly since: number;
}

/** What one of the Shoot's conditions says against it; Progressing is the Shoot's own grace before it says False. */
function troubleOf({ status }: Shoot, type: (typeof types)[number]): Trouble | undefined {
  const found = status?.conditions?.find((one) => one.type === type);
  if (found === undefined) {
    const message = `the Shoot says nothing of ${type} yet`;
    return { said: { status: "Unknown", reason: "NotYetKnown", message }, since: 0 };
  }
  if (found.status === "True" || found.status === "Progressing") return undefined;
  const message = `${type}: ${found.message}`;
  const said: Availability = { status: found.status, reason: found.reason, message };
  return { said, since: Date.parse(found.lastTransitionTime) };
}
