import { commandLines } from "../api/command-lines.ts";
import { Shoot } from "../api/index.ts";
import type { ShootRef } from "../api/shoot/run.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Garden } from "./context.ts";
import { CliError } from "./exit.ts";
import { findNamed, type NamedKind, type NameQuery } from "./find-named.ts";
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

/** What the command line says of a Shoot. */
export interface ShootQuery extends Omit<NameQuery, "text"> {
  readonly shoot: string;
}

/** The Shoot that is meant, as {@link findNamed} has it. */
export async function findShoot({ client, namespace }: Garden, { shoot, ...query }: ShootQuery): Promise<Shoot> {
  const kind: NamedKind<Shoot> = {
    called: "Shoot",
    absence: "does not exist",
    listing: commandLines.listShoots(),
    read: (of, name) => readShoot(client, of, name),
    namespacesOf: (name) => namespacesOf(client, name),
  };
  return await findNamed(kind, namespace, { ...query, text: shoot });
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

async function namespacesOf(client: KubeClient, name: string): Promise<string[]> {
  const shoots = await client.list(Shoot, { fieldSelector: `metadata.name=${name}` });
  return shoots.map((shoot) => shoot.metadata.namespace).sort();
}
