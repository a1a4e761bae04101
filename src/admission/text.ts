import { editDistance } from "../api/schema/edit-distance.ts";

/** What a user wrote, in quotes, and cut off: a refusal is for people. */
export const shorten = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** What to add to the refusal of an unknown word, in brackets: the known one that may be meant, after `before`; nothing where there is none. */
export function suggestion(word: string, known: readonly string[], before = ""): string {
  const meant = nearest(word, known);
  return meant === undefined ? "" : ` (did you mean ${before}${meant}?)`;
}

/** The known word that a user may have meant: another spelling, or a slip of a few letters. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(word.length / 3));
  const distances = known.map((other) => ({
    other,
    distance: editDistance(word.slice(0, 80).toLowerCase(), other.toLowerCase()),
  }));
  return distances.filter(({ distance }) => distance <= most).sort((a, b) => a.distance - b.distance)[0]?.other;
}
