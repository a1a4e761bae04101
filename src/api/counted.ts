/** A number of things in words: `1 zone`, `2 zones`; `many` is the plural where it is not the singular with an s. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** Names in words, the first `most` of them: `a, b and 3 more`. */
export const listed = (names: readonly string[], most: number): string =>
  `${names.slice(0, most).join(", ")}${names.length > most ? ` and ${names.length - most} more` : ""}`;
