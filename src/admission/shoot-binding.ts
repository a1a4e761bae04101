import { isDeepStrictEqual } from "node:util";
import type { Cause } from "./review.ts";
import type { ShootChange } from "./shoot-change.ts";

/** Why the Shoot cannot run on the Seed that it names. `mayBind` is asked only when the Seed changes. */
export async function seedBindingCauses(change: ShootChange, mayBind: () => Promise<boolean>): Promise<Cause[]> {
  const { shoot, old, seed } = change;
  const field = "spec.seedName";
  const name = shoot.spec.seedName;
  if (name === old?.spec.seedName) return [];
  if (!name) return [{ field, message: "cannot be removed: a Shoot stays on its Seed until it names another" }];
  if (!(await mayBind())) {
    const message = `may be set only by users who can update shoots/binding (group core.gardener.cloud)`;
    return [{ field, message, forbidden: true }];
  }
  if (!seed) return [{ field, message: `there is no Seed ${name}: see kubectl get seeds` }];
  if (seed.metadata.deletionTimestamp !== undefined) {
    return [{ field, message: `Seed ${name} is being deleted: choose another` }];
  }
  const others = { ...shoot.spec, seedName: old?.spec.seedName };
  if (old?.spec.seedName && !isDeepStrictEqual(others, old.spec)) {
    return [
      { field: "spec", message: "a change of seedName must be the only change: make the others before or after" },
    ];
  }
  return untolerated(change, field);
}

function untolerated({ shoot, seed }: ShootChange, field: string): Cause[] {
  const tolerated = (key: string, value: string | undefined) =>
    shoot.spec.tolerations?.some((t) => t.key === key && (t.value === undefined || t.value === value)) ?? false;
  const taints = (seed?.spec.taints ?? []).filter(({ key, value }) => !tolerated(key, value));
  return taints.map(({ key }) => ({
    field,
    message: `Seed ${seed?.metadata.name} has taint ${key}: add it to spec.tolerations or choose another Seed`,
  }));
}
