import type { BaseContext } from "./base-context.ts";
import type { Arguments, Command, Options } from "./command.ts";
import type { Context } from "./context.ts";

/** Any verb, its value types forgotten. */
export type Verb<C extends BaseContext = Context> = Command<Arguments, Options, C>;

/** A word of the command line: a group of verbs, or a verb of its own. A group within another has the names of both, with a blank between them. */
export type Group<C extends BaseContext = Context> =
  | { readonly name: string; readonly summary: string; readonly verbs: readonly (() => Promise<Verb<C>>)[] }
  | { readonly name: string; readonly summary: string; readonly load: () => Promise<Verb<C>> };

/** The verbs of a group, imported. */
export function loadVerbs<C extends BaseContext>(group: Group<C>): Promise<Verb<C>[]> {
  return Promise.all("load" in group ? [group.load()] : group.verbs.map((load) => load()));
}

/** The groups that are named first, each with those within it. */
export function nest<C extends BaseContext>(
  groups: readonly Group<C>[],
): { readonly group: Group<C>; readonly within: readonly Group<C>[] }[] {
  const outer = groups.filter(({ name }) => !name.includes(" "));
  return outer.map((group) => ({ group, within: groups.filter(({ name }) => name.startsWith(`${group.name} `)) }));
}

/** The group's last name: what is typed within the one around it. */
export const lastName = ({ name }: Pick<Group, "name">): string => name.split(" ").at(-1) ?? name;
