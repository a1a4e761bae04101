import type { KubeObject } from "../api/schema/meta.ts";
import type { Reflector } from "./watch.ts";

/** Finds objects by a word of theirs. */
export type ObjectIndex<T extends KubeObject> = (word: string) => T[];

/**
 * Finds the objects of a watch by a word that each says, such as a label's value, without a search through all of them. Listeners that
 * are added later find it up to date.
 */
export function indexBy<T extends KubeObject>(
  watch: Pick<Reflector<T>, "get" | "listen">,
  wordOf: (object: T) => string | undefined,
): ObjectIndex<T> {
  const idsOf = new Map<string, Set<string>>();
  const words = new Map<string, string>();

  function forget(id: string): void {
    const word = words.get(id);
    if (word === undefined) return;
    words.delete(id);
    const ids = idsOf.get(word);
    ids?.delete(id);
    if (ids?.size === 0) idsOf.delete(word);
  }

  watch.listen(({ type, object }) => {
    const { namespace = "", name } = object.metadata;
    const id = `${namespace}/${name}`;
    const word = type === "deleted" ? undefined : wordOf(object);
    if (words.get(id) === word) return;
    forget(id);
    if (word === undefined) return;
    words.set(id, word);
    const ids = idsOf.get(word);
    if (ids === undefined) idsOf.set(word, new Set([id]));
    else ids.add(id);
  });

  return (word) =>
    [...(idsOf.get(word) ?? [])].flatMap((id) => {
      const [namespace = "", name = ""] = id.split("/");
      return watch.get(name, namespace === "" ? undefined : namespace) ?? [];
    });
}
