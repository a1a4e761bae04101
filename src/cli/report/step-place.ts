import type { Shoot } from "../../api/index.ts";
import { moveOf } from "../../api/placement/move.ts";
import type { Action } from "../../workflows/actions.ts";

/** Where a step acts: in the garden, in a seed, or in none because it only waits for time to pass. */
export type StepPlace =
  { readonly in: "garden" } | { readonly in: "seed"; readonly seed: string | undefined } | { readonly in: "time" };

/** Where an action is carried out for this Shoot; a Shoot that moves has two seeds. */
export function placeOf(action: Action | undefined, shoot: Shoot): StepPlace {
  switch (action?.where) {
    case "garden":
      return { in: "garden" };
    case "nowhere":
      return { in: "time" };
    case "destination":
      return { in: "seed", seed: shoot.spec.seedName };
    case "source":
      return { in: "seed", seed: sourceOf(shoot) };
    case "seed":
    case undefined:
      return { in: "seed", seed: leaderOf(shoot) };
  }
}

const leaderOf = ({ spec, status }: Shoot): string | undefined => status?.seedName ?? spec.seedName;

/** The seed that leads, while the Shoot leaves it; afterwards the one that it has come from. */
const sourceOf = (shoot: Shoot): string | undefined =>
  (moveOf(shoot).is === "leaving" ? undefined : shoot.status?.leadership?.previousSeed) ?? leaderOf(shoot);
