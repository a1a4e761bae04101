/** A change of the example Shoot, and what an API server has to say to it. */
export interface ShootCase {
  readonly name: string;
  /** New values by the fields' paths; undefined takes a field away. */
  readonly change: Readonly<Record<string, unknown>>;
  /** The field that the refusal names, and words of what it says of it; absent where the Shoot is admitted. */
  readonly refusal?: readonly [field: string, words?: string];
  /** Why the Shoot is admitted. */
  readonly because?: string;
}

/** A Shoot that has to be refused. The field is that of the change unless it is another. */
export function refused(name: string, change: ShootCase["change"], words = "", field = soleFieldOf(change)): ShootCase {
  return { name, change, refusal: [field, words] };
}

/** A Shoot that looks odd, and has to be admitted. */
export function admitted(name: string, change: ShootCase["change"], because: string): ShootCase {
  return { name, change, because };
}

function soleFieldOf(change: ShootCase["change"]): string {
  const [field, ...others] = Object.keys(change);
  if (field === undefined || others.length > 0) throw new Error("say which field the refusal names");
  return field;
}

/** A copy of an object with other values at these paths, such as `spec.provider.workers[0].name`. */
export function withChange<T extends object>(object: T, change: ShootCase["change"]): T {
  const copy = structuredClone(object);
  for (const [path, value] of Object.entries(change)) {
    const steps = path.split(/[.[\]]+/).filter(Boolean);
    const last = steps.pop() ?? "";
    const place = steps.reduce<Record<string, unknown>>(
      (at, step) => (at[step] ??= {}) as Record<string, unknown>,
      copy as Record<string, unknown>,
    );
    if (value === undefined) Reflect.deleteProperty(place, last);
    else place[last] = value;
  }
  return copy;
}
