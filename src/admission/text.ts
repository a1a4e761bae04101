import { editDistance } from "../api/schema/edit-distance.ts";

/** What a user wrote, in quotes, and cut off: a refusal is for people. */
export const shorten = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

/**
 * What to add to the refusal of an unknown word, in brackets: the known one that may be meant, after `before`; nothing where there is
 * none. For the few words that are printed: each costs a comparison with all known ones.
 */
export function suggestion(word: string, known: readonly string[], before = ""): string {
  const meant = nearest(word, known);
  return meant === undefined ? "" : ` (did you mean ${before}${meant}?)`;
}

/** The known word that a user may have meant: another spelling, or a slip of a few letters; none for a long text. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > longestWord) return undefined;
  const most = Math.min(Math.max(1, Math.floor(word.length / 3)), mostSlips);
  let [found, best]: [string | undefined, number] = [undefined, most + 1];
  for (const other of known) {
    const distance = editDistance(word.toLowerCase(), other.toLowerCase(), best - 1);
    if (distance < best) [found, best] = [other, distance];
  }
  return found;
}

/** In characters: the longest feature gate of Kubernetes has 52. */
const longestWord = 64;

const mostSlips = 8;
