import { isForbidden } from "../kube/index.ts";
import { CliError } from "./exit.ts";

/** What the command line says of an object; `exactly` keeps destructive verbs from looking anywhere else. */
export interface NameQuery {
  /** NAME or NAMESPACE/NAME. */
  readonly text: string;
  readonly namespace?: string | undefined;
  readonly exactly?: boolean;
}

/** How objects that can be named are found. */
export interface NamedKind<T> {
  /** In a word for people: `Shoot`. */
  readonly called: string;
  /** What is true of one that is not found: `does not exist`. */
  readonly absence: string;
  /** The command that lists all of them. */
  readonly listing: string;
  read(namespace: string, name: string): Promise<T | undefined>;
  /** Those in which there is one of that name. */
  namespacesOf(name: string): Promise<readonly string[]>;
}

/**
 * The object that is meant: in the namespace that is named, else in that of the kubeconfig's context, else the only one of that name
 * anywhere. Throws which namespaces there are to choose from. A user who may look into one namespace only is told of that one.
 */
export async function findNamed<T>(kind: NamedKind<T>, current: string | undefined, query: NameQuery): Promise<T> {
  const [name, given] = splitName(query);
  const near = given ?? current;
  const here = near === undefined ? undefined : await kind.read(near, name);
  if (here !== undefined) return here;
  const elsewhere = await kind.namespacesOf(name).catch((error: unknown) => {
    if (near === undefined || !isForbidden(error)) throw error;
    return missing(kind, name, near, []);
  });
  if (given !== undefined) return missing(kind, name, given, elsewhere);
  const [only] = elsewhere;
  if (only === undefined)
    throw new CliError("notFound", `${kind.called} "${name}" ${kind.absence}: see '${kind.listing}'`);
  if (elsewhere.length > 1 || query.exactly === true) {
    const where = elsewhere.join(", ");
    throw new CliError("usage", `say which ${kind.called} "${name}" you mean: it exists in ${where}; add -n NAMESPACE`);
  }
  return (await kind.read(only, name)) ?? missing(kind, name, only, []);
}

function splitName({ text, namespace }: NameQuery): [name: string, namespace: string | undefined] {
  const [first = "", second] = text.split("/");
  if (second === undefined) return [first, namespace];
  if (namespace === undefined || namespace === first) return [second, first];
  throw new CliError("usage", `-n ${namespace} contradicts "${text}": name the namespace once`);
}

function missing(
  { called, absence, listing }: Pick<NamedKind<unknown>, "called" | "absence" | "listing">,
  name: string,
  namespace: string,
  elsewhere: readonly string[],
): never {
  const hint = elsewhere.length > 0 ? `it exists in ${elsewhere.join(", ")}` : `see '${listing}'`;
  throw new CliError("notFound", `${called} "${name}" ${absence} in namespace "${namespace}": ${hint}`);
}
