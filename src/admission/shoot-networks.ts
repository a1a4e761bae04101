import type { Seed } from "../api/index.ts";
import { isNetwork, malformedAmong, overlaps, overlapsAmong, type NamedNetwork } from "./network.ts";
import type { Cause } from "./review.ts";
import type { ShootChange } from "./shoot-change.ts";

/**
 * Why the Shoot's networks cannot be used: no networks at all, missing ones, or ones that share addresses with each
 * other or with its Seed's, which could then not be told apart where both are routed.
 */
export function networkCauses({ shoot, seed }: ShootChange): Cause[] {
  const { networking, provider } = shoot.spec;
  const networks = namedNetworks("spec.networking", networking);
  const malformed = malformedAmong(networks);
  if (malformed.length > 0) return malformed;
  const missing = (provider.workers ?? []).length === 0 ? [] : missingFields(networking);
  return [...missing, ...overlapsAmong(networks), ...overlapsWithSeed(networks, seed)];
}

function missingFields(networking: Partial<Record<"type" | "pods" | "services", string | undefined>> = {}): Cause[] {
  return (["type", "pods", "services"] as const)
    .filter((field) => !networking[field])
    .map((field) => ({ field: `spec.networking.${field}`, message: "must be set for a Shoot with workers" }));
}

function overlapsWithSeed(networks: readonly NamedNetwork[], seed: Seed | undefined): Cause[] {
  const name = seed?.metadata.name;
  const taken = namedNetworks("spec.networks", seed?.spec.networks).filter(({ cidr }) => isNetwork(cidr));
  return networks.flatMap(({ field, cidr }) =>
    taken
      .filter((other) => overlaps(cidr, other.cidr))
      .map((other) => ({
        field,
        message: `${cidr} overlaps with ${other.cidr} of Seed ${name} (${other.field}): choose another network or Seed`,
      })),
  );
}

function namedNetworks(path: string, networks: Partial<Record<NetworkField, string | undefined>> = {}): NamedNetwork[] {
  return (["pods", "services", "nodes"] as const).flatMap((field) => {
    const cidr = networks[field];
    return cidr ? [{ field: `${path}.${field}`, cidr }] : [];
  });
}

type NetworkField = "pods" | "services" | "nodes";
