import { isNetwork, overlaps } from "../api/schema/cidr.ts";
import type { Cause } from "./review.ts";

/** A network and the field that it is written in. */
export interface NamedNetwork {
  readonly field: string;
  readonly cidr: string;
}

/** A cause for each network that is none. */
export function malformedAmong(networks: readonly NamedNetwork[]): Cause[] {
  return networks
    .filter(({ cidr }) => !isNetwork(cidr))
    .map(({ field, cidr }) => ({ field, message: `${cidr} is not a network in CIDR notation, such as 10.96.0.0/16` }));
}

/** A cause for each pair of networks that share an address. All of them have to be networks. */
export function overlapsAmong(networks: readonly NamedNetwork[]): Cause[] {
  return networks.flatMap((a, index) =>
    networks
      .slice(index + 1)
      .filter((b) => overlaps(a.cidr, b.cidr))
      .map((b) => ({
        field: b.field,
        message: `${b.cidr} overlaps with ${a.cidr} of ${a.field}: choose another network`,
      })),
  );
}
