import { BlockList, isIP } from "node:net";
import type { Cause } from "./review.ts";

/** A network and the field that it is written in. */
export interface NamedNetwork {
  readonly field: string;
  readonly cidr: string;
}

/** Whether a text is a network in CIDR notation. */
export function isNetwork(cidr: string): boolean {
  const [address = "", bits = "", ...rest] = cidr.split("/");
  const family = isIP(address);
  return rest.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

/** Whether two networks share an address. Networks of different families never do. */
export function overlaps(a: string, b: string): boolean {
  return contains(a, addressOf(b)) || contains(b, addressOf(a));
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

function contains(cidr: string, address: string): boolean {
  const family = isIP(address) === 4 ? "ipv4" : "ipv6";
  if (isIP(addressOf(cidr)) !== isIP(address)) return false;
  const list = new BlockList();
  list.addSubnet(addressOf(cidr), Number(cidr.split("/")[1]), family);
  return list.check(address, family);
}

function addressOf(cidr: string): string {
  return cidr.split("/")[0] ?? "";
}
