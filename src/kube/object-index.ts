import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../api/schema/meta.ts";
import type { Reflector } from "./watch.ts";

/** Finds objects by one of their words. */
export type ObjectIndex<T extends KubeObject> = (word: string) => T[];

/**
 * Finds the objects of a watch by a word that each bears, such as a label's value, or by any of several, without a search through all of
 * them. Listeners that are added later find it up to date.
 */
export function indexBy<T extends KubeObject>(
  watch: Pick<Reflector<T>, "get" | "listen">,
  wordsOf: (object: T) => string | readonly string[] | undefined,
): ObjectIndex<T> {
  const idsOf = new Map<string, Set<string>>();
  const words = new Map<string, readonly string[]>();

  function forget(id: string): void {
    for (const word of words.get(id) ?? []) {
      const ids = idsOf.get(word);
      ids?.delete(id);
      if (ids?.size === 0) idsOf.delete(word);
    }
    words.delete(id);
  }

  watch.listen(({ type, object }) => {
    const { namespace = "", name } = object.metadata;
    const id = `${namespace}/${name}`;
    const present = type === "deleted" ? [] : listOf(wordsOf(object));
    if (isDeepStrictEqual(words.get(id) ?? [], present)) return;
    forget(id);
    if (present.length > 0) words.set(id, present);
    for (const word of present) {
      const ids = idsOf.get(word);
      if (ids === undefined) idsOf.set(word, new Set([id]));
      else ids.add(id);
    }
  });

  return (word) =>
    [...(idsOf.get(word) ?? [])].flatMap((id) => {
      const [namespace = "", name = ""] = id.split("/");
      return watch.get(name, namespace === "" ? undefined : namespace) ?? [];
    });
}

function listOf(words: string | readonly string[] | undefined): readonly string[] {
  if (words === undefined) return [];
  return typeof words === "string" ? [words] : words;
}
