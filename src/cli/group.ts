import type { Command } from "./command.ts";

/** Any verb, its value types forgotten. */
export type Verb = Command;

/** A word of the command line: a group of verbs, or a verb of its own. */
export type Group =
  | { readonly name: string; readonly summary: string; readonly verbs: readonly (() => Promise<Verb>)[] }
  | { readonly name: string; readonly summary: string; readonly load: () => Promise<Verb> };

/** The verbs of a group, imported. */
export function loadVerbs(group: Group): Promise<Verb[]> {
  return Promise.all("load" in group ? [group.load()] : group.verbs.map((load) => load()));
}
