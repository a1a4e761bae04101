import type { BaseContext } from "./base-context.ts";
import type { Arguments, Command, Options } from "./command.ts";
import type { Context } from "./context.ts";

/** Any verb, its value types forgotten. */
export type Verb<C extends BaseContext = Context> = Command<Arguments, Options, C>;

/** A word of the command line: a group of verbs, or a verb of its own. */
export type Group<C extends BaseContext = Context> =
  | { readonly name: string; readonly summary: string; readonly verbs: readonly (() => Promise<Verb<C>>)[] }
  | { readonly name: string; readonly summary: string; readonly load: () => Promise<Verb<C>> };

/** The verbs of a group, imported. */
export function loadVerbs<C extends BaseContext>(group: Group<C>): Promise<Verb<C>[]> {
  return Promise.all("load" in group ? [group.load()] : group.verbs.map((load) => load()));
}
