import { createSocket } from "node:dgram";
import { isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { CliError } from "../../cli/exit.ts";
import { KUBELET_NODE_ADDRESS } from "../../components/index.ts";
import { writeWhole } from "../../node-agent/whole-file.ts";
import { readIfThere } from "./is-there.ts";

/** An IPv4 address of this machine that is not its loopback's. */
export interface OwnAddress {
  readonly address: string;
  /** The name of its interface. */
  readonly on: string;
}

/** What is known about the address by which the cluster is to reach this machine. */
export interface AddressRequest {
  /** The folder that is its `/`. */
  readonly root: string;
  /** By `--node-ip`. */
  readonly nodeIp?: string | undefined;
  /** A host of the cluster that it joins. */
  readonly towards?: string | undefined;
}

/** What there is on the machine; of the process' own unless a test says otherwise. */
export interface Surroundings {
  readonly own: readonly OwnAddress[];
  /** The address from which a packet to this host leaves; undefined where no route leads there. */
  source(host: string): Promise<string | undefined>;
}

/**
 * The address by which the cluster is to reach this machine, for good once it is noted: that of `--node-ip`, else the one from which
 * it reaches the cluster that it joins, else the one from which its default route leaves, else its only one. Throws a CliError where
 * the wanted one is none of its own, or another one was noted, and where there is none, or several and nothing says which.
 */
export async function chooseAddress(
  { root, nodeIp, towards }: AddressRequest,
  { own, source }: Surroundings = look(),
): Promise<string> {
  const noted = await readAddress(root);
  if (nodeIp !== undefined) return confirmWanted(nodeIp, noted, own);
  if (noted !== undefined) return confirmNoted(noted, own);
  const isOwn = (address: string | undefined) => own.some((one) => one.address === address);
  const routed = [...(towards === undefined ? [] : [towards]), ELSEWHERE];
  for (const host of routed) {
    const address = await source(host);
    if (address !== undefined && isOwn(address)) return address;
  }
  const [only, ...others] = own;
  if (only === undefined)
    throw failed("this machine has no IPv4 address but that of its loopback: connect it to a network");
  if (others.length === 0) return only.address;
  throw failed(
    `this machine has several addresses (${inWords(own)}) and no default route: say with --node-ip by which one the cluster is to reach it`,
  );
}

/** Of networks for documentation (RFC 5737): only a default route leads there. */
const ELSEWHERE = "192.0.2.1";

function confirmWanted(wanted: string, noted: string | undefined, own: readonly OwnAddress[]): string {
  if (!isIPv4(wanted)) throw failed(`--node-ip is "${wanted}", which is no IPv4 address: name one of ${inWords(own)}`);
  if (!own.some(({ address }) => address === wanted))
    throw failed(`--node-ip is ${wanted}, which no interface of this machine has: name one of ${inWords(own)}`);
  if (noted === undefined || noted === wanted) return wanted;
  throw failed(
    `the cluster reaches this machine at ${noted}, and --node-ip is ${wanted}: leave it out, or take the node out with 'gardenadm reset' first`,
  );
}

function confirmNoted(noted: string, own: readonly OwnAddress[]): string {
  if (own.some(({ address }) => address === noted)) return noted;
  throw failed(
    `the cluster reaches this machine at ${noted}, which no interface has any more (${inWords(own)}): give it back to one, as by 'ip address add'; 'gardenadm reset' takes the node out, with all data that it has`,
  );
}

const failed = (sentence: string): CliError => new CliError("failed", sentence);

const inWords = (own: readonly OwnAddress[]): string => own.map(({ address, on }) => `${address} on ${on}`).join(", ");

function look(): Surroundings {
  const own = Object.entries(networkInterfaces()).flatMap(([on, addresses = []]) =>
    addresses.filter(({ family, internal }) => family === "IPv4" && !internal).map(({ address }) => ({ address, on })),
  );
  return { own, source };
}

/** No packet is sent. */
async function source(host: string): Promise<string | undefined> {
  const socket = createSocket("udp4");
  const address = await new Promise<string | undefined>((resolve) => {
    socket.once("error", () => resolve(undefined));
    socket.connect(9, host, () => resolve(socket.address().address));
  });
  socket.close();
  return address;
}

/** Has the machine whose `/` is `root` keep the address, and its kubelet say it when that registers its Node. */
export async function noteAddress(root: string, address: string): Promise<void> {
  if ((await readAddress(root)) === address) return;
  const { file, variable } = KUBELET_NODE_ADDRESS;
  await writeWhole(join(root, file), Buffer.from(`${variable}=--node-ip=${address}\n`), 0o600);
}

/** The address that was noted; undefined where none was. */
export async function readAddress(root: string): Promise<string | undefined> {
  const text = await readIfThere(join(root, KUBELET_NODE_ADDRESS.file));
  return /=--node-ip=(\S+)/.exec(text ?? "")?.[1];
}
