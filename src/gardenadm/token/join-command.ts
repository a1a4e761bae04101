import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Cluster } from "../../api/index.ts";
import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import { CliError } from "../../cli/exit.ts";
import { isInDns, urlHost } from "../../components/index.ts";
import { EndpointSlice, renderBootstrapToken, type BootstrapToken, type KubeClient } from "../../kube/index.ts";
import type { Cluster as ClusterAccess } from "../context.ts";
import { authorityHashes } from "../cluster/authorities.ts";
import { commandLine } from "../command-line.ts";
import { readIngress } from "../cluster/ingress.ts";
import { parseServerUrl } from "../server-url.ts";

/** What a machine is told of the cluster that it is to join: where it is, and how it is proved. */
export interface JoinTarget {
  /** URL of the API server. */
  readonly server: string;
  /** `sha256:` and the hash, in hexadecimal digits, of the public key of each authority that may have signed the server's certificate. */
  readonly authorities: readonly string[];
}

/** What lets a machine join. */
export interface JoinInvitation extends JoinTarget {
  readonly token: BootstrapToken;
  readonly isControlPlane: boolean;
}

/** One line to paste on the machine. The token comes by standard input, so that no list of processes shows it. */
export function joinCommand({ server, authorities, token, isControlPlane }: JoinInvitation): string {
  const join = commandLine(
    ...["gardenadm", "join", server, "--bootstrap-token", "-"],
    ...authorities.flatMap((hash) => ["--ca-cert-hash", hash]),
    isControlPlane ? "--control-plane" : undefined,
  );
  return `echo ${renderBootstrapToken(token)} | ${join}`;
}

/**
 * Where machines find the cluster: at the address that is given, else at the kubeconfig's; where that leads to this very
 * machine, where the control plane is exposed, else at an address that an API server advertises. Throws when none is known, or the kubeconfig has no authority.
 */
export async function findJoinTarget(cluster: ClusterAccess, address: string | undefined): Promise<JoinTarget> {
  const authorities = hashesOf(await readAuthorities(cluster), cluster);
  const server = address === undefined ? await findServer(cluster) : parseServerUrl(address, "--server");
  return { server, authorities };
}

async function readAuthorities({ kubeconfig: { cluster, directory }, called }: ClusterAccess): Promise<string> {
  const { "certificate-authority-data": data, "certificate-authority": file } = cluster;
  if (typeof data === "string") return Buffer.from(data, "base64").toString();
  if (typeof file !== "string") throw noAuthority(called);
  return await readFile(resolve(directory, file), "utf8").catch((cause: unknown) => {
    throw noAuthority(called, cause);
  });
}

function hashesOf(bundle: string, { called }: ClusterAccess): string[] {
  try {
    return authorityHashes(bundle, called);
  } catch (cause) {
    throw noAuthority(called, cause);
  }
}

const noAuthority = (called: string, cause?: unknown): CliError =>
  new CliError(
    "usage",
    `kubeconfig ${called} has no certificate-authority-data with certificates, by which machines would know the cluster: add them, or leave out --print-join-command`,
    { cause },
  );

async function findServer({ client, kubeconfig: { server }, called }: ClusterAccess): Promise<string> {
  if (!isThisMachine(new URL(server).hostname)) return server;
  const advertised = (await exposedServer(client)) ?? (await advertisedServer(client));
  if (advertised !== undefined) return advertised;
  throw new CliError(
    "usage",
    `kubeconfig ${called} leads to ${server}, which other machines do not reach, and no API server advertises another address: say one with --server HOST:PORT`,
  );
}

/** The name of the API servers where the DNS knows it, else what an extension has said first. */
async function exposedServer(client: KubeClient): Promise<string | undefined> {
  const found = await client.read(Cluster, { name: SYSTEM_NAMESPACE });
  if (found === undefined) return undefined;
  const { shoot } = Cluster.schema.parse(found).spec;
  if (isInDns({ shoot })) return `https://api.${shoot.spec.dns?.domain ?? ""}`;
  const [host] = await readIngress(client, shoot);
  return host && `https://${urlHost(host)}`;
}

/** Where Service default/kubernetes leads: to a node with an API server. */
async function advertisedServer(client: KubeClient): Promise<string | undefined> {
  const labelSelector = "kubernetes.io/service-name=kubernetes";
  const slices = await client.list(EndpointSlice, { namespace: "default", labelSelector });
  const [first] = slices.flatMap(({ endpoints, ports }) =>
    (endpoints ?? []).flatMap(({ addresses }) => addresses.map((host) => ({ host, port: ports?.[0]?.port ?? 443 }))),
  );
  return first && new URL(`https://${urlHost(first.host)}:${first.port}`).origin;
}

const isThisMachine = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[?::1\]?|0\.0\.0\.0|\[?::\]?)$/.test(host);
