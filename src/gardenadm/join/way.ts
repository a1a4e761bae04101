import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { API_SERVER_MARK } from "../../api/names.ts";
import { hostOf, urlHost } from "../../components/index.ts";
import { parseKubeconfig, renderKubeconfig, type KubeClient } from "../../kube/index.ts";
import { apiServerLines } from "../machine/hosts-file.ts";
import type { TrustedCluster } from "./trust.ts";
import { createClusterClient } from "../cluster/client.ts";

/** How a machine that joins reaches the API servers of its cluster, before anything is written on it. */
export interface Way {
  /** URL. */
  readonly server: string;
  /** The name that the server proves, where the URL has an address. */
  readonly tlsServerName?: string;
  /** In PEM. */
  readonly ca: string;
  /** The lines of `/etc/hosts` by which the name of the API servers is to lead there, too; undefined where it leads somewhere already. */
  readonly lines?: readonly string[];
}

/**
 * The way to a cluster's API servers by their name; where that leads nowhere but by lines of ours, by the address that the operator has
 * given. Lines with another address are of a control plane that has moved, unless they lead to an API server of the machine's own, which
 * need not run yet.
 */
export async function findWay({ server, ca }: TrustedCluster, address: string, root: string): Promise<Way> {
  const name = hostOf(server);
  if (isIP(name) !== 0) return { server, ca };
  const { address: ip } = await lookup(hostOf(address));
  const ours = await apiServerLines(root);
  if (ours.length === 0 && (await leads(name))) return { server, ca };
  const { port } = new URL(server);
  const byAddress = `https://${urlHost(ip)}${port === "" ? "" : `:${port}`}`;
  const isGood = ours.some((line) => line.startsWith(`${ip} `) || line.startsWith("127.0.0.1 "));
  const lines = isGood ? {} : { lines: [`${ip} ${name}${API_SERVER_MARK}`] };
  return { server: byAddress, tlsServerName: name, ca, ...lines };
}

/** A client on this way, with the client certificate that a kubeconfig has. */
export function clientWith(kubeconfig: string, { lines: _, ...way }: Way): KubeClient {
  const { user } = parseKubeconfig(kubeconfig);
  const decoded = (field: string) => Buffer.from(String(user[field]), "base64").toString();
  const [clientCert, clientKey] = [decoded("client-certificate-data"), decoded("client-key-data")];
  return createClusterClient({ kubeconfig: renderKubeconfig({ ...way, clientCert, clientKey }) }, OPTIONS);
}

/** The same, with a bootstrap token as people write it. */
export const clientByToken = (token: string, { lines: _, ...way }: Way): KubeClient =>
  createClusterClient({ kubeconfig: renderKubeconfig({ ...way, token }) }, OPTIONS);

const OPTIONS = { userAgent: "gardenadm" } as const;

async function leads(name: string): Promise<boolean> {
  return await lookup(name).then(
    () => true,
    () => false,
  );
}
