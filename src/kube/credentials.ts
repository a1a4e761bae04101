import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { omitUndefined } from "../omit-undefined.ts";
import { parseForeignKubeconfig, readKubeconfig, type Kubeconfig } from "./kubeconfig.ts";

/**
 * Where a client finds its cluster: kubeconfig text, in which everything has to stand, since it comes out of a cluster; a
 * kubeconfig file of this machine, which may name others and run plugins; or the pod it runs in, whose account it uses, at
 * another address than that of the Service where it names one.
 */
export type ClusterSource =
  { readonly kubeconfig: string } | { readonly file: string } | { readonly inCluster: true; readonly server?: string };

/** What one request presents to an API server; certificates and keys in PEM. */
export interface Credentials {
  readonly tls: Tls;
  readonly authorization?: string;
}

/** The TLS side of {@link Credentials}, as node:tls takes it. */
export interface Tls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** One cluster's credentials; `current` re-reads token files and asks exec plugins again once a minute. */
export interface CredentialSource {
  readonly server: string;
  current(): Promise<Credentials>;
  /** After a 401: the next `current` reads everything again. */
  renew(): void;
}

/** Credentials for a cluster; throws at once when the source is unusable. Concurrent callers share one lookup. */
export function createCredentialSource(source: ClusterSource): CredentialSource {
  let config = load(source);
  let lookup: Promise<Credentials> | undefined;
  let staleAt = 0;
  let outdated = false;

  async function refresh(): Promise<Credentials> {
    if (outdated) config = load(source);
    outdated = false;
    return lookUp(config);
  }

  return {
    server: config.server,
    current() {
      if (lookup === undefined || Date.now() >= staleAt) {
        staleAt = Date.now() + credentialLifetime;
        lookup = refresh();
        lookup.catch(() => (staleAt = 0));
      }
      return lookup;
    },
    renew() {
      staleAt = 0;
      outdated = true;
    },
  };
}

const credentialLifetime = 60_000;

const podFiles = "/var/run/secrets/kubernetes.io/serviceaccount";

function load(source: ClusterSource): Kubeconfig {
  const config = find(source);
  if (!("proxy-url" in config.cluster)) return config;
  throw new Error(`cannot use the kubeconfig for ${config.server}: proxy-url is not supported`);
}

function find(source: ClusterSource): Kubeconfig {
  if ("kubeconfig" in source) return parseForeignKubeconfig(source.kubeconfig);
  if ("file" in source) return readKubeconfig(source.file);
  const server = source.server ?? serverOfService();
  if (server === undefined || !existsSync(`${podFiles}/token`)) {
    throw new Error(
      "cannot use the in-cluster configuration: this process does not run in a pod with a service account",
    );
  }
  return {
    text: "",
    directory: podFiles,
    server,
    cluster: { "certificate-authority": "ca.crt" },
    user: { tokenFile: "token" },
  };
}

function serverOfService(): string | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  if (host === undefined || port === undefined) return undefined;
  return `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

async function lookUp(config: Kubeconfig): Promise<Credentials> {
  const { cluster, user } = config;
  if ("exec" in user || "auth-provider" in user) return askPlugin(config);
  const authorization = bearer(config) ?? basic(user);
  return {
    tls: omitUndefined({
      ca: pem(config, cluster, "certificate-authority"),
      cert: pem(config, user, "client-certificate"),
      key: pem(config, user, "client-key"),
      ...serverChecks(cluster),
    }),
    ...omitUndefined({ authorization }),
  };
}

/** Exec plugins and auth providers are client-node's business; it is loaded only for them (it costs 85 MB). */
async function askPlugin({ text, directory, cluster }: Kubeconfig): Promise<Credentials> {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  config.loadFromString(text);
  config.makePathsAbsolute(directory);
  const options: PluginAnswer = {};
  await config.applyToHTTPSOptions(options);
  return {
    tls: omitUndefined({
      ca: options.ca?.toString(),
      cert: options.cert?.toString(),
      key: options.key?.toString(),
      ...serverChecks(cluster),
    }),
    ...omitUndefined({ authorization: options.headers?.["Authorization"] }),
  };
}

interface PluginAnswer {
  ca?: Buffer;
  cert?: Buffer;
  key?: Buffer;
  headers?: Record<string, string>;
}

function bearer({ user, directory }: Kubeconfig): string | undefined {
  const file = user["tokenFile"];
  const token = typeof file === "string" ? readFileSync(resolve(directory, file), "utf8").trim() : user["token"];
  return typeof token === "string" ? `Bearer ${token}` : undefined;
}

function basic(user: Readonly<Record<string, unknown>>): string | undefined {
  const { username, password } = user;
  if (typeof username !== "string") return undefined;
  return `Basic ${Buffer.from(`${username}:${typeof password === "string" ? password : ""}`).toString("base64")}`;
}

function pem({ directory }: Kubeconfig, entry: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const data = entry[`${name}-data`];
  if (typeof data === "string") return Buffer.from(data, "base64").toString("utf8");
  const file = entry[name];
  return typeof file === "string" ? readFileSync(resolve(directory, file), "utf8") : undefined;
}

function serverChecks(cluster: Readonly<Record<string, unknown>>): Tls {
  const servername = cluster["tls-server-name"];
  return omitUndefined({
    servername: typeof servername === "string" ? servername : undefined,
    rejectUnauthorized: cluster["insecure-skip-tls-verify"] === true ? false : undefined,
  });
}
