import { commandLines } from "../api/command-lines.ts";
import { Shoot } from "../api/index.ts";
import type { ShootRef } from "../api/shoot/run.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Garden } from "./context.ts";
import { CliError } from "./exit.ts";
import { required, text, type Argument } from "./option.ts";

/** The argument that names a Shoot. */
export const shootArgument: Argument<string> = {
  ...required("Name of the Shoot, or namespace/name"),
  parse: (text) => requireShootName(text ?? ""),
};

/** The text, which can name a Shoot, with its namespace or without; throws what is expected instead. */
export function requireShootName(text: string, expected = "NAME or NAMESPACE/NAME"): string {
  const words = text.split("/");
  if (words.length > 2 || !words.every(isName))
    throw new CliError("usage", `"${text}" names no Shoot: say ${expected}`);
  return text;
}

/** Whether an object may bear this name. */
export function isName(word: string): boolean {
  return /^[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?$/.test(word);
}

/** The option that says where the Shoot is. */
export const namespaceOption = text("namespace", "Namespace of the Shoot [the kubeconfig's]", "n");

/** What the command line says of a Shoot; `exactly` keeps destructive verbs from looking anywhere else. */
export interface ShootQuery {
  readonly shoot: string;
  readonly namespace?: string | undefined;
  readonly exactly?: boolean;
}

/**
 * The Shoot that is meant: in the namespace that is named, or the only one of that name anywhere. Throws which
 * namespaces there are to choose from.
 */
export async function findShoot({ client, namespace: current }: Garden, query: ShootQuery): Promise<Shoot> {
  const [name, given] = splitName(query);
  if (given !== undefined)
    return (await readShoot(client, given, name)) ?? missing(name, given, await namespacesOf(client, name));
  const here = current === undefined ? undefined : await readShoot(client, current, name);
  if (here) return here;
  const namespaces = await namespacesOf(client, name);
  const [only] = namespaces;
  if (only === undefined)
    throw new CliError("notFound", `Shoot "${name}" does not exist: see '${commandLines.listShoots()}'`);
  if (namespaces.length > 1 || query.exactly) {
    throw new CliError(
      "usage",
      `say which Shoot "${name}" you mean: it exists in ${namespaces.join(", ")}; add -n NAMESPACE`,
    );
  }
  return (await readShoot(client, only, name)) ?? missing(name, only, []);
}

/** The Shoot's lasting name, by which its workflows are found. */
export function shootRef({ metadata: { namespace, name, uid } }: Shoot): ShootRef {
  return { namespace, name, uid: uid ?? "" };
}

/** The Shoot as it is now, or undefined when it is gone. */
export function readShoot(
  client: Pick<KubeClient, "read">,
  namespace: string,
  name: string,
): Promise<Shoot | undefined> {
  return client.read(Shoot, { namespace, name });
}

function splitName({ shoot, namespace }: ShootQuery): [name: string, namespace: string | undefined] {
  const [first = "", second] = shoot.split("/");
  if (second === undefined) return [first, namespace];
  if (namespace === undefined || namespace === first) return [second, first];
  throw new CliError("usage", `-n ${namespace} contradicts "${shoot}": name the namespace once`);
}

async function namespacesOf(client: KubeClient, name: string): Promise<string[]> {
  const shoots = await client.list(Shoot, { fieldSelector: `metadata.name=${name}` });
  return shoots.map((shoot) => shoot.metadata.namespace).sort();
}

function missing(name: string, namespace: string, elsewhere: readonly string[]): never {
  const hint = elsewhere.length > 0 ? `it exists in ${elsewhere.join(", ")}` : `see '${commandLines.listShoots()}'`;
  throw new CliError("notFound", `Shoot "${name}" does not exist in namespace "${namespace}": ${hint}`);
}
