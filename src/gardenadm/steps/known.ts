/** What the steps of one command have found out, for those that come after. */
export interface Known<Found extends object> {
  /** What was found so far; steps write here. */
  readonly known: Partial<Found>;
  /** Throws where no step has found it: steps come in their order, and each of them in every run. */
  get<Key extends keyof Found>(key: Key): Found[Key];
}

/** Nothing is known yet. */
export function createKnown<Found extends object>(): Known<Found> {
  const known: Partial<Found> = {};
  return {
    known,
    get(key) {
      const value = known[key];
      if (value === undefined) throw new Error(`no step before this one has found ${String(key)}`);
      return value;
    },
  };
}
