import { createHash } from "node:crypto";

/** Everything that is derived from the name of one local environment. */
export interface Environment {
  /** A DNS label; "local" unless told otherwise. */
  readonly name: string;
  /** Where all that must survive a process is kept, such as /var/lib/perennial/local. */
  readonly stateDir: string;
  /** The host's bridge that the machines are plugged into. */
  readonly bridge: string;
  /** The environment's own /16: machines in its lower half, load balancers in its upper half. */
  readonly network: string;
  /** The host's address on the bridge: DNS on port 53 and the garden's and seeds' API servers listen here. */
  readonly gateway: string;
  /** The DNS zone that the environment's DNS server answers for. */
  readonly domain: string;
  /** The kinds of extension objects, of type `local`, that the built-in provider leaves to extensions that are installed. */
  readonly left?: readonly string[];
  /** A set of bare machines, and nothing else. */
  readonly bare?: true;
  /** The local provider of each seed is installed from its chart; without it, it runs beside the environment. */
  readonly providerLocal?: "chart";
}

/** The address ranges of one control plane of the environment, in CIDR notation. */
export interface ClusterNetworks {
  readonly pods: string;
  readonly services: string;
  /** The cluster's DNS: the tenth address of `services`. */
  readonly dns: string;
  /** The `kubernetes` Service: the first address of `services`. */
  readonly apiServer: string;
}

/**
 * Derives an environment from its name. It gets 172.30.0.0/16 when it is called "local", else another /16 between 172.16
 * and 172.31 that its name picks; the next one when that overlaps with `taken` (networks in CIDR notation).
 */
export function deriveEnvironment(name: string, stateDir: string, taken: readonly string[] = []): Environment {
  if (!/^[a-z]([-a-z0-9]{0,30}[a-z0-9])?$/.test(name)) {
    throw new Error(
      `cannot name an environment ${JSON.stringify(name)}: a name is a DNS label of at most 32 characters`,
    );
  }
  const octet = candidates(name).find((octet) => !taken.some((network) => overlaps(network, `172.${octet}.0.0/16`)));
  if (octet === undefined)
    throw new Error(`cannot find a free network for environment ${name}: all of 172.16.0.0/12 is taken`);
  return {
    name,
    stateDir,
    bridge: `pn-${shortName(name)}`,
    network: `172.${octet}.0.0/16`,
    gateway: `172.${octet}.0.1`,
    domain: name === defaultName ? "perennial.test" : `${name}.perennial.test`,
  };
}

/** Whether the environment's built-in provider leaves this kind and type to an extension that is installed. */
export const isLeft = (
  { left = [] }: Pick<Environment, "left">,
  of: { readonly kind: string; readonly type: string },
) => of.type === "local" && left.includes(of.kind);

/** Whether extensions are installed in the environment's seeds, which takes a resource manager there. */
export const installsExtensions = ({ left, providerLocal }: Pick<Environment, "left" | "providerLocal">): boolean =>
  left !== undefined || providerLocal === "chart";

/** Whether upstream's provider-local makes the machines of Shoots: privileged pods of a seed. */
export const hasMachinePods = ({ left = [] }: Pick<Environment, "left">): boolean => left.includes("Worker");

/** The name of the environment where none is given. */
export const defaultName = "local";

/** The networks of the garden (0) or of the n-th seed (1 to 7), no two of which overlap on one host. */
export function clusterNetworks(environment: Pick<Environment, "network">, cluster: string): ClusterNetworks {
  const index = cluster === "garden" ? 0 : Number(/-(\d+)$/.exec(cluster)?.[1] ?? Number.NaN);
  if (!(index >= 0 && index <= 7))
    throw new Error(`cannot place cluster ${cluster}: it is called garden, or seed-1 to seed-7`);
  const block = (Number(environment.network.split(".")[1]) - 16) * 16 + 2 * index;
  return {
    pods: `10.${block}.0.0/16`,
    services: `10.${block + 1}.0.0/16`,
    dns: `10.${block + 1}.0.10`,
    apiServer: `10.${block + 1}.0.1`,
  };
}

/** Whether two networks in CIDR notation share an address. */
export function overlaps(a: string, b: string): boolean {
  const [first, second] = [parseNetwork(a), parseNetwork(b)];
  const size = 2 ** (32 - Math.min(first.bits, second.bits));
  return Math.floor(first.address / size) === Math.floor(second.address / size);
}

function candidates(name: string): number[] {
  const start = name === defaultName ? 14 : hash(name) % 14;
  return Array.from({ length: 16 }, (_, step) => 16 + ((start + step) % 16));
}

/** At most eight characters, so that interface names made from it stay below the kernel's fifteen. */
function shortName(name: string): string {
  return name.length <= 8 ? name : `${name.slice(0, 2)}${hash(name).toString(36).padStart(6, "0").slice(0, 6)}`;
}

function hash(name: string): number {
  return createHash("sha256").update(name).digest().readUInt32BE();
}

function parseNetwork(cidr: string): { address: number; bits: number } {
  const [address = "", bits = "32"] = cidr.split("/");
  return { address: address.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0), bits: Number(bits) };
}
