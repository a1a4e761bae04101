/** The entries that have a value: what exactOptionalPropertyTypes wants instead of `undefined`. */
export function omitUndefined<Entries extends object>(entries: Entries): Given<Entries> {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as Given<Entries>;
}

type Given<Entries> = { [Key in keyof Entries]?: Exclude<Entries[Key], undefined> };
