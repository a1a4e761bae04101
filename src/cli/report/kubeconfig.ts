import { commandLines } from "../../api/command-lines.ts";
import { KUBECONFIG_EXPIRY_ANNOTATION } from "../../api/annotations.ts";
import type { Shoot } from "../../api/index.ts";
import { kubeconfigSecretName } from "../../api/names.ts";
import { Secret, type KubeClient } from "../../kube/index.ts";
import { CliError } from "../exit.ts";

/** Answers the addresses of a host name, none when it does not resolve. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** A Shoot's kubeconfig, and until when it is good, where that is known. */
export interface PublishedKubeconfig {
  readonly kubeconfig: string;
  readonly expires?: Date;
}

/** The Shoot's admin kubeconfig as it was published: Secret `<shoot>.kubeconfig` beside the Shoot. */
export async function readPublishedKubeconfig(gardenClient: KubeClient, shoot: Shoot): Promise<PublishedKubeconfig> {
  const { namespace, name } = shoot.metadata;
  const secret = await gardenClient.read(Secret, { namespace, name: kubeconfigSecretName(name) });
  const data = secret?.data?.["kubeconfig"];
  const expires = secret?.metadata.annotations?.[KUBECONFIG_EXPIRY_ANNOTATION];
  if (data) {
    const kubeconfig = await renderAnew(Buffer.from(data, "base64").toString(), `${namespace}/${name}`);
    return { kubeconfig, ...(expires === undefined ? {} : { expires: new Date(expires) }) };
  }
  throw new CliError(
    "notFound",
    `Shoot ${namespace}/${name} has no kubeconfig yet: wait for its control plane with '${commandLines.watchShoot(`${namespace}/${name}`)}'`,
  );
}

/**
 * The server, certificates and token of a kubeconfig that a seed wrote, and nothing else of it: kubectl would run a command, or
 * read a file of this machine, that it names. Throws what it names of these.
 */
async function renderAnew(text: string, shoot: string): Promise<string> {
  const { parseForeignKubeconfig } = await import("../../kube/kubeconfig.ts");
  try {
    return parseForeignKubeconfig(text).text;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CliError(
      "failed",
      `cannot use Secret ${kubeconfigSecretName(shoot)}, which a seed wrote: ${why}; tell the operators of the garden`,
      { cause },
    );
  }
}

/** Why the kubeconfig may be of no use now; undefined where it should be. */
export function noteOn(
  { spec, metadata: { namespace, name } }: Shoot,
  { expires }: PublishedKubeconfig,
  now = new Date(),
): string | undefined {
  const isOver = expires !== undefined && expires <= now;
  if (spec.hibernation?.enabled) {
    const token = isOver ? "its token has expired" : "its token may expire meanwhile";
    return `Shoot ${namespace}/${name} hibernates: its API server does not run; ${token}, and another is published when it wakes up`;
  }
  if (!isOver) return undefined;
  const describe = commandLines.describeShoot(`${namespace}/${name}`);
  return `the token of Shoot ${namespace}/${name} expired at ${expires.toISOString()}, and its seed has not renewed it: see '${describe}'`;
}

/** Until when a kubeconfig with this address is good. */
export function noteOnAddress({ metadata: { namespace, name } }: Shoot, address: string): string {
  return `this machine does not resolve the name of Shoot ${namespace}/${name}: the kubeconfig names its API server by the address ${address}, and is of no use once another Seed leads`;
}

/** What becomes of kubeconfigs when another Seed begins to lead, and how to get one that is good. */
export function noteOnMove(shoot: string): string {
  return `A kubeconfig that names the API server by an address is of no use once another Seed leads; one that names it by its DNS name stays good. After the move: ${commandLines.writeKubeconfig(shoot)}`;
}

/** Names to find an API server by, in the order in which they are tried. */
export interface Lookup {
  /** What this machine resolves, as every other program on it will. */
  readonly here: Resolve;
  /** Resolvers that only we ask, such as the local environment's DNS server. */
  readonly elsewhere: readonly Resolve[];
  /** Addresses that the Shoot itself advertises. */
  readonly advertised: readonly string[];
}

/**
 * The kubeconfig's current context with a server that can be reached from here: its DNS name if this machine resolves it, else an
 * address, with the name kept for the certificate (tls-server-name). Unchanged where no address is known.
 */
export async function reachable(
  kubeconfig: string,
  { here, elsewhere, advertised }: Lookup,
): Promise<{ kubeconfig: string; address?: string }> {
  const { moveServer, parseForeignKubeconfig } = await import("../../kube/kubeconfig.ts");
  const parsed = parseForeignKubeconfig(kubeconfig);
  const url = new URL(parsed.server);
  const host = url.hostname;
  if (isAddress(host) || (await here(host)).length > 0) return { kubeconfig };
  const found = await firstOf([
    ...elsewhere.map((resolve) => () => resolve(host)),
    async () => advertised.map(hostOf).filter(isAddress),
  ]);
  if (!found) return { kubeconfig };
  const server = `https://${found.includes(":") ? `[${found}]` : found}:${url.port || "443"}`;
  return { kubeconfig: moveServer(parsed, { server, tlsServerName: host }), address: found };
}

async function firstOf(sources: readonly (() => Promise<readonly string[]>)[]): Promise<string | undefined> {
  for (const source of sources) {
    const [first] = await source();
    if (first !== undefined) return first;
  }
  return undefined;
}

function hostOf(url: string): string {
  return URL.parse(url)?.hostname ?? "";
}

function isAddress(host: string): boolean {
  return /^\d+\.\d+\.\d+\.\d+$/.test(host) || host.startsWith("[");
}
