import { networkInterfaces } from "node:os";
import { isIPv4Network, overlaps } from "../../api/schema/cidr.ts";
import type { Candidate } from "./candidate.ts";
import type { Demands } from "./demands.ts";
import { neighbours, type Neighbour } from "./neighbours.ts";

type Asked = Pick<Candidate, "root" | "demands" | "interfaces">;

/**
 * Why the cluster's ranges cannot be used on this machine: they share addresses with each other, or with what the machine is or
 * reaches, which a pod or Service of that address would hide. Of IPv4; none where the ranges are not known.
 */
export async function networkFaults({ root, demands, interfaces = networkInterfaces() }: Asked): Promise<string[]> {
  if (demands === undefined) return [];
  const ranges = rangesOf(demands);
  const around = await neighbours(root, interfaces);
  return [
    ...ranges.flatMap((one, index) => ranges.slice(index + 1).flatMap((other) => pairFaults(one, other))),
    ...ranges.filter(({ name }) => name !== "nodes").flatMap((range) => neighbourFaults(range, around)),
  ];
}

interface Range {
  readonly name: keyof Demands["networks"];
  readonly cidr: string;
}

const rangesOf = ({ networks }: Demands): Range[] =>
  (["pods", "services", "nodes"] as const).flatMap((name) => {
    const cidr = networks[name];
    return cidr !== undefined && isIPv4Network(cidr) ? [{ name, cidr }] : [];
  });

function pairFaults(one: Range, other: Range): string[] {
  if (!overlaps(one.cidr, other.cidr)) return [];
  return [
    `the Shoot's ranges for ${one.name} (${one.cidr}) and ${other.name} (${other.cidr}) share addresses: change spec.networking.${other.name}`,
  ];
}

function neighbourFaults({ name, cidr }: Range, around: readonly Neighbour[]): string[] {
  const hidden = around.filter((neighbour) => overlaps(cidr, neighbour.cidr));
  if (hidden.length === 0) return [];
  const shown = hidden.map((neighbour) => `${neighbour.what} (${neighbour.cidr})`).join(", ");
  return [
    `the Shoot's range for ${name} (${cidr}) shares addresses with ${shown} of this machine: write another range into spec.networking.${name}`,
  ];
}
