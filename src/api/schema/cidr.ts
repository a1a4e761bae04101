import { BlockList, isIP } from "node:net";

/**
 * Whether a text is a network in CIDR notation, which every reader takes for the same network: without zones, leading zeros and
 * IPv4 addresses inside of IPv6.
 */
export function isNetwork(cidr: string): boolean {
  const [address = "", bits = "", ...rest] = cidr.split("/");
  const family = isIP(address);
  if (rest.length > 0 || family === 0 || address.includes("%") || isMapped(address)) return false;
  return /^(?:0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

/** Whether it is an address of IPv6 that Go takes for one of IPv4. */
const isMapped = (address: string): boolean =>
  isIP(address) === 6 && /^\[::ffff:[0-9a-f]+:[0-9a-f]+\]$/.test(URL.parse(`http://[${address}]`)?.hostname ?? "");

/** Whether two networks share an address. Networks of different families never do. */
export function overlaps(a: string, b: string): boolean {
  return contains(a, addressOf(b)) || contains(b, addressOf(a));
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

/** The network of IPv4 with the bits behind its prefix cleared, which is how it is written: `10.1.0.0/16` for `10.1.2.3/16`. */
export function canonicalNetwork(cidr: string): string {
  const size = 2 ** (32 - prefixOf(cidr));
  const number = addressOf(cidr)
    .split(".")
    .reduce((sum, byte) => sum * 256 + Number(byte), 0);
  const base = number - (number % size);
  const bytes = [24, 16, 8, 0].map((shift) => Math.floor(base / 2 ** shift) % 256);
  return `${bytes.join(".")}/${prefixOf(cidr)}`;
}

/** How many bits of a network's addresses are the same. */
export const prefixOf = (cidr: string): number => Number(cidr.split("/")[1]);

/** Whether a network is of IPv4. */
export const isIPv4Network = (cidr: string): boolean => isNetwork(cidr) && isIP(addressOf(cidr)) === 4;
