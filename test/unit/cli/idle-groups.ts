import type { BaseContext } from "../../../src/cli/base-context.ts";
import type { Group, Verb } from "../../../src/cli/group.ts";

/** A program's groups as they are, but for what their verbs do: they read their command line, and do nothing. */
export function idleGroups<C extends BaseContext>(groups: readonly Group<C>[]): readonly Group<C>[] {
  return groups.map((group) =>
    "load" in group
      ? { ...group, load: idleVerb(group.load) }
      : { ...group, verbs: group.verbs.map((load) => idleVerb(load)) },
  );
}

const idleVerb =
  <C extends BaseContext>(load: () => Promise<Verb<C>>) =>
  async (): Promise<Verb<C>> => ({ ...(await load()), run: async () => {} });
