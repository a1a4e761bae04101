import { createHash } from "node:crypto";
import { CLUSTER_SECRET_TYPE, clusterKubeconfigName } from "../../api/cluster-api/index.ts";
import { defineKind, parseKubeconfig, Secret } from "../../kube/index.ts";
import { LONGEST_FOREIGN } from "../../kube/kubeconfig.ts";
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

/** A Secret of Cluster API's, of which nothing is remembered but the trust that it gives, and whether it is another one by now. */
export interface TrustSecret extends KubeObject {
  readonly metadata: NamespacedMeta;
  readonly trust?: Trust;
  /** Of a kubeconfig, {@link digestOf} its value. */
  readonly digest?: string;
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
  const { name, namespace = "", uid, resourceVersion, labels, ownerReferences } = secret.metadata;
  const metadata = { name, namespace, ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  const kept = { apiVersion: secret.apiVersion, kind: secret.kind };
  if (clusterOfSecret(secret) === undefined) return { ...kept, metadata };
  const trust = trustOf(secret as Secret);
  const digest = digestOf((secret as Secret).data?.["value"]);
  const owned = { ...metadata, ...(labels && { labels }), ...(ownerReferences && { ownerReferences }) };
  return { ...kept, metadata: owned, digest, ...(trust && { trust }) };
}

/** Tells one value of a Secret from another, without keeping it. */
export const digestOf = (value = ""): string => createHash("sha256").update(value).digest("base64");

/** In characters: the most that is remembered of an authority, as base64, and of a name. Users write such Secrets by the hundred. */
const MOST = { authority: 131_072, name: 253 };

/** Undefined for what is no kubeconfig with an authority in it, and for one that would fill the memory: others may write such a Secret. */
function trustOf({ data }: Secret): Trust | undefined {
  try {
    const text = Buffer.from(data?.["value"] ?? "", "base64").toString("utf8");
    if (text.length > LONGEST_FOREIGN) return undefined;
    const { server, cluster } = parseKubeconfig(text);
    const authority = cluster["certificate-authority-data"];
    if (typeof authority !== "string" || authority.length > MOST.authority) return undefined;
    const serverName = cluster["tls-server-name"];
    const named = typeof serverName === "string" ? { serverName } : {};
    const endpoint = parseUrlEndpoint(server);
    if ([endpoint?.host, named.serverName].some((name = "") => name.length > MOST.name)) return undefined;
    return { ca: Buffer.from(authority, "base64").toString("utf8"), server: endpoint, ...named };
  } catch {
    return undefined;
  }
}
