import type { Shoot } from "../../api/index.ts";
import { isLeaving } from "../../api/placement/move.ts";

/** Where a step acts: in the garden, in a seed, or nowhere because it only waits for time to pass. */
export type StepPlace =
  { readonly in: "garden" } | { readonly in: "seed"; readonly seed: string | undefined } | { readonly in: "time" };

/** Where a step of any flow acts for this Shoot; a Shoot on its way has two seeds, and each step has one of them. */
export function placeOf(step: string, { spec, status }: Shoot): StepPlace {
  if (gardenSteps.has(step)) return { in: "garden" };
  if (waitingSteps.has(step)) return { in: "time" };
  if (step.startsWith("destination")) return { in: "seed", seed: spec.seedName };
  const left = isLeaving({ spec, status }) ? status?.seedName : status?.leadership?.previousSeed;
  if (oldSeedSteps.has(step) && left !== undefined) return { in: "seed", seed: left };
  return { in: "seed", seed: status?.seedName ?? spec.seedName };
}

/** Steps that act on the garden alone. */
export const gardenSteps: ReadonlySet<string> = new Set(["leadership", "check", "flip", "leave", "removeLeadership"]);

/** Steps that are durable timers. */
export const waitingSteps: ReadonlySet<string> = new Set(["oldAddressForgotten", "leases"]);

/** Steps of Restore, and of the clean-up behind it, that act in the seed that was left. */
export const oldSeedSteps: ReadonlySet<string> = new Set(["fence", "oldApiServer", "finalSnapshot", "oldEtcd"]);
