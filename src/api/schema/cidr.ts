import { BlockList, isIP } from "node:net";

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
