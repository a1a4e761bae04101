import { isDeepStrictEqual } from "node:util";
import { networkObstacles } from "../../api/placement/fit.ts";
import { malformedAmong, overlapsAmong, type NamedNetwork } from "../network.ts";
import type { Cause } from "../review.ts";
import type { ShootChange } from "./change.ts";

/**
 * Why the Shoot's networks cannot be used: no networks at all, missing ones, or ones that share addresses with each
 * other or with its Seed's, which could then not be told apart where both are routed. They cannot be changed: what was
 * admitted once is not judged again.
 */
export function networkCauses({ shoot, old, seed }: Pick<ShootChange, "shoot" | "old" | "seed">): Cause[] {
  const { networking, provider, seedName } = shoot.spec;
  if (old && seedName === old.spec.seedName && isDeepStrictEqual(networking, old.spec.networking)) return [];
  const networks = namedNetworks("spec.networking", networking);
  const malformed = malformedAmong(networks);
  if (malformed.length > 0) return malformed;
  const missing = (provider.workers ?? []).length === 0 ? [] : missingFields(networking, seed ? needed : ["type"]);
  const elsewhere = seed ? networkObstacles(shoot, seed) : [];
  return [...missing, ...overlapsAmong(networks), ...elsewhere];
}

const needed = ["type", "pods", "services"] as const;

/** A Shoot without a Seed may leave networks to the Seed that it gets. */
function missingFields(
  networking: Partial<Record<(typeof needed)[number], string | undefined>> = {},
  fields: readonly (typeof needed)[number][],
): Cause[] {
  return fields
    .filter((field) => !networking[field])
    .map((field) => ({ field: `spec.networking.${field}`, message: "must be set for a Shoot with workers" }));
}

function namedNetworks(path: string, networks: Partial<Record<NetworkField, string | undefined>> = {}): NamedNetwork[] {
  return (["pods", "services", "nodes"] as const).flatMap((field) => {
    const cidr = networks[field];
    return cidr ? [{ field: `${path}.${field}`, cidr }] : [];
  });
}

type NetworkField = "pods" | "services" | "nodes";
