import { isIPv4 } from "node:net";
import { canonicalNetwork } from "../../api/schema/cidr.ts";
import type { Interfaces } from "./candidate.ts";
import { textOf } from "./readable.ts";

/** Addresses that a machine has or reaches. */
export interface Neighbour {
  /** As sentences name it. */
  readonly what: string;
  readonly cidr: string;
}

/** The networks of a machine's interfaces, those that its routes lead to, and its gateways and resolvers, each once. Of IPv4. */
export async function neighbours(root: string, interfaces: Interfaces): Promise<readonly Neighbour[]> {
  const known = new Set<string>();
  return [...ownNetworks(interfaces), ...(await routes(root)), ...(await resolvers(root))].filter(({ cidr }) => {
    const network = canonicalNetwork(cidr);
    return !known.has(network) && known.add(network);
  });
}

function ownNetworks(interfaces: Interfaces): Neighbour[] {
  return Object.entries(interfaces).flatMap(([name, addresses = []]) =>
    addresses.flatMap(({ family, cidr }) =>
      family === "IPv4" && cidr !== null ? [{ what: `interface ${name}`, cidr }] : [],
    ),
  );
}

/** The kernel's table, without the route to everywhere else. */
async function routes(root: string): Promise<Neighbour[]> {
  const [, ...lines] = (await textOf(root, "/proc/net/route")).trim().split("\n");
  return lines.flatMap((line) => {
    const [name = "", destination = "", gateway = "", , , , , mask = ""] = line.split(/\s+/);
    const bits = bytesOf(mask).reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
    const network = { what: `a route by ${name}`, cidr: `${bytesOf(destination).join(".")}/${bits}` };
    const through = { what: `the gateway by ${name}`, cidr: `${bytesOf(gateway).join(".")}/32` };
    return [...(bits === 0 ? [] : [network]), ...(Number.parseInt(gateway, 16) === 0 ? [] : [through])];
  });
}

/** The kernel writes addresses as numbers of its own byte order, which is the small end first wherever Node.js runs. */
const bytesOf = (hexadecimal: string): number[] => [...Buffer.from(hexadecimal, "hex")].toReversed();

/** Those behind systemd's own, too. */
const RESOLVER_FILES = ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"];

/** The addresses of the name servers in a text in the form of `/etc/resolv.conf`. */
export const nameServersIn = (text: string): string[] =>
  [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].map(([, address = ""]) => address);

async function resolvers(root: string): Promise<Neighbour[]> {
  const texts = await Promise.all(RESOLVER_FILES.map((file) => textOf(root, file)));
  return texts
    .flatMap(nameServersIn)
    .filter((address) => isIPv4(address))
    .map((address) => ({ what: "the resolver", cidr: `${address}/32` }));
}
