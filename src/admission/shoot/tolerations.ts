import type { Project, Shoot } from "../../api/index.ts";
import type { Cause } from "../review.ts";

type Toleration = NonNullable<Shoot["spec"]["tolerations"]>[number];
type Tolerations = NonNullable<Project["spec"]["tolerations"]>;

/** Why the Shoot may not tolerate a taint: its project does not let it. What it had before stays (Gardener: ShootTolerationRestriction). */
export function tolerationCauses(
  { spec }: Pick<Shoot, "spec">,
  old: Pick<Shoot, "spec"> | undefined,
  { whitelist = [] }: Tolerations = {},
): Cause[] {
  const had = (one: Toleration) =>
    old?.spec.tolerations?.some(({ key, value }) => key === one.key && value === one.value) ?? false;
  const listed = whitelist.map(({ key, value }) => (value === undefined ? key : `${key}=${value}`));
  return (spec.tolerations ?? []).flatMap((toleration, index): Cause[] => {
    if (had(toleration) || whitelist.some((allowed) => covers(allowed, toleration))) return [];
    const choices = listed.length === 0 ? "none" : listed.join(", ");
    const message = `the project's Shoots may not tolerate ${toleration.key} (spec.tolerations.whitelist of the Project has ${choices})`;
    return [{ field: `spec.tolerations[${index}]`, message, forbidden: true }];
  });
}

/** The Shoot's tolerations, and those that all Shoots of its project get; undefined where there are none. */
export function withDefaultTolerations(own: readonly Toleration[] | undefined, { defaults = [] }: Tolerations = {}) {
  const missing = defaults.filter(({ key }) => !own?.some((toleration) => toleration.key === key));
  return missing.length === 0 ? own : [...(own ?? []), ...missing];
}

/** An entry without a value allows every value. */
const covers = (allowed: Toleration, { key, value }: Toleration): boolean =>
  allowed.key === key && (allowed.value === undefined || allowed.value === value);
