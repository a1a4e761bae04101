import type { Shoot } from "../../api/index.ts";
import type { Cause } from "../review.ts";
import type { ShootChange } from "./change.ts";

const field = "spec.dns.providers";

/** Why the Shoot cannot have these DNS providers: one at most is primary, and it stays what it is (Gardener: validateDNSUpdate). */
export function dnsProviderCauses({ shoot, old }: Pick<ShootChange, "shoot" | "old">): Cause[] {
  const primaries = (shoot.spec.dns?.providers ?? []).flatMap(({ primary }, index) => (primary ? [index] : []));
  const several = primaries.slice(1).map((index) => ({
    field: `${field}[${index}].primary`,
    message: "must not be set twice: the primary provider serves the Shoot's domain",
  }));
  const [before, after] = [old && primaryOf(old), primaryOf(shoot)];
  if (before === undefined || several.length > 0) return several;
  if (after === undefined) return [{ field, message: "cannot lose its primary provider", forbidden: true }];
  if (before.type === undefined || before.type === after.type) return [];
  return [{ field, message: `cannot change the type of its primary provider from ${before.type}`, forbidden: true }];
}

const primaryOf = ({ spec }: Shoot) => spec.dns?.providers?.find(({ primary }) => primary === true);
