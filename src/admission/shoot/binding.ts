import { isDeepStrictEqual } from "node:util";
import { listed } from "../../api/counted.ts";
import { FORCE_TAKEOVER_ANNOTATION } from "../../api/annotations.ts";
import { placementObstacles, selectorObstacles } from "../../api/placement/choice.ts";
import { bucketObstacles } from "../../api/placement/fit.ts";
import type { Cause } from "../review.ts";
import type { ShootChange } from "./change.ts";
import { migrationCauses, moveChangeOf } from "./migration.ts";

const field = "spec.seedName";

/**
 * Why the Shoot cannot run on the Seed that it names. Where there is a control plane already, the change means its
 * migration; a Shoot that is called back only has to be what it was. `mayBind` is asked only when the Seed changes.
 */
export async function seedBindingCauses(change: ShootChange, mayBind: () => Promise<boolean>): Promise<Cause[]> {
  const { shoot, old } = change;
  if (shoot.spec.seedName === old?.spec.seedName) return selectorCauses(change);
  if (!shoot.spec.seedName)
    return [{ field, message: "cannot be removed: a Shoot stays on its Seed until it names another" }];
  if (!(await mayBind())) {
    const message = `may be set only by users who can update shoots/binding (group core.gardener.cloud)`;
    return [{ field, message, forbidden: true }];
  }
  const others = { ...shoot.spec, seedName: old?.spec.seedName };
  if (old?.spec.seedName && !isDeepStrictEqual(others, old.spec)) {
    const message = "a change of seedName must be the only change: make the others before or after";
    return [{ field: "spec", message }];
  }
  switch (moveChangeOf(change)) {
    case "cancellation":
      return [];
    case "migration":
      return [...migrationCauses(change), ...bastionCauses(change)];
    case "none":
      return firstSeedCauses(change);
  }
}

/** A Bastion is a machine that the seed's controller keeps; in a takeover that is not asked for anything. */
function bastionCauses({ shoot, bastions = [] }: ShootChange): Cause[] {
  if (bastions.length === 0 || shoot.metadata.annotations?.[FORCE_TAKEOVER_ANNOTATION] !== undefined) return [];
  const message = `the Shoot has Bastion ${listed(bastions, 10)}: delete it first`;
  return [{ field, message, forbidden: true }];
}

/** Where a Shoot is, it stays: a selector that its Seed does not match would say otherwise. */
function selectorCauses({ shoot, old, seed }: ShootChange): Cause[] {
  if (!seed || isDeepStrictEqual(shoot.spec.seedSelector, old?.spec.seedSelector)) return [];
  return selectorObstacles(shoot, seed, undefined);
}

function firstSeedCauses(change: ShootChange): Cause[] {
  const { shoot, seed } = change;
  if (!seed) return [{ field, message: `there is no Seed ${shoot.spec.seedName}: see kubectl get seeds` }];
  if (seed.metadata.deletionTimestamp !== undefined)
    return [{ field, message: `Seed ${shoot.spec.seedName} is being deleted: choose another` }];
  return [...placementObstacles({ ...change, seed }), ...bucketObstacles(seed, field, "broken")];
}
