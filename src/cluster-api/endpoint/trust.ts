import { CLUSTER_SECRET_TYPE, clusterKubeconfigName } from "../../api/cluster-api/index.ts";
import { defineKind, parseKubeconfig, Secret } from "../../kube/index.ts";
import { parseUrlEndpoint } from "./value.ts";
import type { NamespacedMeta, KubeObject } from "../../api/schema/meta.ts";
import type { Endpoint } from "./value.ts";

/** By what the API servers of a Cluster are known: of its kubeconfig, the authority, where it leads to, and under which name. */
export interface Trust {
  /** PEM. */
  readonly ca: string;
  readonly server: Endpoint | undefined;
  readonly serverName?: string | undefined;
}

/** A Secret of Cluster API's, of which nothing is remembered but the trust that it gives. */
export interface TrustSecret extends KubeObject {
  readonly metadata: NamespacedMeta;
  readonly trust?: Trust;
}

/** Secrets, as {@link TrustSecret}s. */
export const TrustSecret = defineKind<TrustSecret>({
  ...{ apiVersion: Secret.apiVersion, kind: Secret.kind },
  scope: "Namespaced",
});

/** Field selector of Cluster API's own Secrets: kubeconfigs are among them. */
export const TRUST_SECRETS = `type=${CLUSTER_SECRET_TYPE}`;

const SUFFIX = clusterKubeconfigName("");

/** The Cluster whose kubeconfig a Secret holds by its name; undefined for any other Secret. */
export const clusterOfSecret = ({ metadata: { name } }: KubeObject): string | undefined =>
  name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : undefined;

/** A Secret without keys and credentials. */
export function keepTrust(secret: KubeObject): TrustSecret {
  const { name, namespace = "", uid, resourceVersion } = secret.metadata;
  const trust = clusterOfSecret(secret) === undefined ? undefined : trustOf(secret as Secret);
  const metadata = { name, namespace, ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  return { apiVersion: secret.apiVersion, kind: secret.kind, metadata, ...(trust && { trust }) };
}

/** Undefined for what is no kubeconfig with an authority in it: others may write such a Secret. */
function trustOf({ data }: Secret): Trust | undefined {
  try {
    const { server, cluster } = parseKubeconfig(Buffer.from(data?.["value"] ?? "", "base64").toString("utf8"));
    const authority = cluster["certificate-authority-data"];
    if (typeof authority !== "string") return undefined;
    const serverName = cluster["tls-server-name"];
    const named = typeof serverName === "string" ? { serverName } : {};
    return { ca: Buffer.from(authority, "base64").toString("utf8"), server: parseUrlEndpoint(server), ...named };
  } catch {
    return undefined;
  }
}
