import type { Shoot } from "./shoot.ts";

/** A DNS provider as a Shoot names it. */
type NamedProvider = NonNullable<NonNullable<Shoot["spec"]["dns"]>["providers"]>[number];

/** The provider that the Shoot itself names for its domain: the primary one, else the first. */
export function primaryDnsProvider({ spec }: Pick<Shoot, "spec">): NamedProvider | undefined {
  const providers = spec.dns?.providers ?? [];
  return providers.find(({ primary }) => primary) ?? providers[0];
}
