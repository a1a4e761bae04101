import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { omitUndefined } from "../omit-undefined.ts";
import { parseYaml } from "../parsing.ts";
import { renderYaml } from "../yaml.ts";

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
  readonly clientCert?: string | undefined;
  readonly clientKey?: string | undefined;
  readonly token?: string | undefined;
  /** Where the reader finds the token, as a path of its own file system. */
  readonly tokenFile?: string;
  readonly tlsServerName?: string | undefined;
  readonly namespace?: string;
}

/** A kubeconfig with one context named `default`; byte for byte the same for the same parts. */
export function renderKubeconfig(parts: KubeconfigParts): string {
  const { server, ca, clientCert, clientKey, token, tokenFile, tlsServerName, namespace } = parts;
  const cluster = {
    server,
    "certificate-authority-data": base64(ca),
    ...omitUndefined({ "tls-server-name": tlsServerName }),
  };
  const user = omitUndefined({
    "client-certificate-data": clientCert && base64(clientCert),
    "client-key-data": clientKey && base64(clientKey),
    token,
    tokenFile,
  });
  return render(cluster, user, namespace);
}

function render(cluster: Fields, user: Fields, namespace: string | undefined): string {
  return renderYaml({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "default", cluster }],
    users: [{ name: "default", user }],
    contexts: [{ name: "default", context: { cluster: "default", user: "default", ...omitUndefined({ namespace }) } }],
    "current-context": "default",
  });
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

/**
 * Reads a kubeconfig that another wrote, such as one found in a cluster: everything has to stand in it. What runs a
 * command, reads a file of this machine, poses as another user or leaves the server unproved is refused by its name.
 * Its `text` is rendered anew from what was read, and holds nothing else: pass that on, and never the text that was given.
 */
export function parseForeignKubeconfig(text: string): Kubeconfig {
  if (text.length > LONGEST_FOREIGN)
    throw new Error(`cannot use the kubeconfig: it is longer than ${LONGEST_FOREIGN} characters`);
  const { directory, server, namespace, ...entries } = parseKubeconfig(text);
  const { server: _, ...trust } = entries.cluster;
  const cluster = { server, ...inlineFields(trust, clusterFields) };
  const user = inlineFields(entries.user, userFields);
  if (!isPlainUrl(server))
    throw new Error(
      "cannot use the kubeconfig: its server is not https, or not a plain URL such as https://api.example.com:443",
    );
  return {
    text: render(cluster, user, namespace),
    ...{ directory, server, cluster, user },
    ...omitUndefined({ namespace }),
  };
}

/** In characters: one server, its authorities and one user take a tenth of that, and to read YAML takes a second for each million. */
export const LONGEST_FOREIGN = 262_144;

/** Renders a kubeconfig for its server's other address. A certificate is still held against the name that it was for. */
export function moveServer(
  { cluster, user, namespace }: Kubeconfig,
  { server, tlsServerName }: { readonly server: string; readonly tlsServerName: string },
): string {
  return render(
    { ...cluster, server, "tls-server-name": cluster["tls-server-name"] ?? tlsServerName },
    user,
    namespace,
  );
}

/** The fields of an entry in this order, as texts. Throws, naming the field, for any other field or value. */
function inlineFields(entry: Fields, allowed: readonly string[]): Readonly<Record<string, string>> {
  const refused = Object.keys(entry).filter((field) => !allowed.includes(field));
  if (refused.length > 0)
    throw new Error(
      `cannot use the kubeconfig: ${refused.join(", ")} is not allowed: it may hold certificates and tokens only`,
    );
  const present = allowed.filter((field) => entry[field] !== undefined && entry[field] !== null);
  return Object.fromEntries(present.map((field) => [field, textOf(field, entry[field])]));
}

function textOf(field: string, value: unknown): string {
  if (typeof value !== "string") throw new Error(`cannot use the kubeconfig: ${field} is not text`);
  return field.endsWith("-data") ? Buffer.from(value, "base64").toString("base64") : value;
}

/** Whether all readers of URLs find the same host in it, over HTTPS. */
function isPlainUrl(server: string): boolean {
  const [, host] = /^https:\/\/([-.a-zA-Z0-9]+|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?(?:\/[-.\w/~]*)?$/.exec(server) ?? [];
  const parsed = URL.parse(server)?.hostname;
  return host !== undefined && (host.startsWith("[") ? parsed !== undefined : parsed === host.toLowerCase());
}

const clusterFields = ["certificate-authority-data", "tls-server-name"];
const userFields = ["client-certificate-data", "client-key-data", "token"];

/**
 * Picks the current context's cluster and user out of a kubeconfig; relative file names start at `directory`. Throws what
 * it lacks: `called` is what the error calls it.
 */
export function parseKubeconfig(text: string, directory: string = process.cwd(), called = "kubeconfig"): Kubeconfig {
  const config = record(parseYaml(text, called));
  if (Object.keys(config).length === 0) throw new Error(`${called} is empty`);
  const find = finderIn(config, called);
  const context = find("context", currentContext(config, called));
  const cluster = find("cluster", context["cluster"]);
  const user = find("user", context["user"]);
  const { server } = cluster;
  const { namespace } = context;
  if (typeof server !== "string") throw new Error(`${called} names no server`);
  return {
    text,
    directory,
    server: server.replace(/(?<!\/)\/+$/, ""),
    ...omitUndefined({ namespace: typeof namespace === "string" ? namespace : undefined }),
    cluster,
    user,
  };
}

type Fields = Readonly<Record<string, unknown>>;

function currentContext(config: Fields, called: string): unknown {
  const current = config["current-context"];
  if (typeof current === "string" && current !== "") return current;
  const names = namesIn(config["contexts"]);
  throw new Error(
    `${called} has no current-context${names === "" ? ", and no contexts" : `: set it to one of ${names}`}`,
  );
}

/** Finds what the entry of a name holds: `user: {…}` of `users`, say. */
const finderIn =
  (config: Fields, called: string) =>
  (what: "context" | "cluster" | "user", name: unknown): Fields => {
    const entries = config[`${what}s`];
    const [found, another] = records(entries).filter((one) => typeof name === "string" && one["name"] === name);
    if (another !== undefined) throw new Error(`${called} has two ${what}s of one name: remove one of them`);
    if (found !== undefined) return record(found[what]);
    throw new Error(`${called} has no ${what} ${JSON.stringify(name ?? "")}: it has ${namesIn(entries) || "none"}`);
  };

/** The names to choose from, at most ten, and none that is longer than a name: a kubeconfig found in a seed may hold anything there. */
const namesIn = (entries: unknown): string =>
  records(entries)
    .flatMap(({ name }) => (typeof name === "string" && name.length <= 253 ? [name] : []))
    .slice(0, 10)
    .join(", ");

const records = (entries: unknown): Fields[] => (Array.isArray(entries) ? entries.map(record) : []);

function record(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
