import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parse, stringify } from "yaml";
import { omitUndefined } from "../omit-undefined.ts";

/** The cluster and user of a kubeconfig's current context, with files resolved against the kubeconfig's directory. */
export interface Kubeconfig {
  readonly text: string;
  readonly directory: string;
  readonly server: string;
  readonly namespace?: string;
  readonly cluster: Readonly<Record<string, unknown>>;
  readonly user: Readonly<Record<string, unknown>>;
}

/** What {@link renderKubeconfig} is made from; certificates and keys in PEM. */
export interface KubeconfigParts {
  readonly server: string;
  readonly ca: string;
  readonly clientCert?: string;
  readonly clientKey?: string;
  readonly token?: string;
  readonly tlsServerName?: string;
  readonly namespace?: string;
}

/** A kubeconfig with one context named `default`; byte for byte the same for the same parts. */
export function renderKubeconfig(parts: KubeconfigParts): string {
  const { server, ca, clientCert, clientKey, token, tlsServerName, namespace } = parts;
  const cluster = {
    server,
    "certificate-authority-data": base64(ca),
    ...omitUndefined({ "tls-server-name": tlsServerName }),
  };
  const user = omitUndefined({
    "client-certificate-data": clientCert && base64(clientCert),
    "client-key-data": clientKey && base64(clientKey),
    token,
  });
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "default", cluster }],
    users: [{ name: "default", user }],
    contexts: [{ name: "default", context: { cluster: "default", user: "default", ...omitUndefined({ namespace }) } }],
    "current-context": "default",
  };
  return stringify(config, { version: "1.1", lineWidth: 0 });
}

/** Reads a kubeconfig file, or throws an Error that names the file. */
export function readKubeconfig(file: string): Kubeconfig {
  try {
    return parseKubeconfig(readFileSync(file, "utf8"), dirname(resolve(file)));
  } catch (cause) {
    throw new Error(`cannot read kubeconfig ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/** Picks the current context's cluster and user out of a kubeconfig; relative file names start at `directory`. */
export function parseKubeconfig(text: string, directory: string = process.cwd()): Kubeconfig {
  const config = parse(text, { version: "1.1" }) as Document | null;
  const context = entry(config?.contexts, config?.["current-context"], "context")["context"] as Context | undefined;
  const cluster = entry(config?.clusters, context?.cluster, "cluster")["cluster"] as Record<string, unknown>;
  const user = entry(config?.users, context?.user, "user")["user"] as Record<string, unknown> | null | undefined;
  const server = cluster?.["server"];
  if (typeof server !== "string") throw new Error("kubeconfig names no server");
  return {
    text,
    directory,
    server: server.replace(/\/+$/, ""),
    ...omitUndefined({ namespace: context?.namespace }),
    cluster,
    user: user ?? {},
  };
}

interface Context {
  readonly cluster?: string;
  readonly user?: string;
  readonly namespace?: string;
}

type Entry = Readonly<Record<string, unknown>>;

interface Document {
  readonly contexts?: readonly Entry[];
  readonly clusters?: readonly Entry[];
  readonly users?: readonly Entry[];
  readonly "current-context"?: string;
}

function entry(entries: readonly Entry[] | undefined, name: string | undefined, what: string): Entry {
  const found = entries?.find((candidate) => candidate["name"] === name);
  if (found === undefined) throw new Error(`kubeconfig has no ${what} ${JSON.stringify(name ?? "")}`);
  return found;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
