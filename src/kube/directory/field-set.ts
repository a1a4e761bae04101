/**
 * A set of fields of an object, as server-side apply keeps one for each writer: a tree of path elements, of which `self`
 * says that the place itself is in the set. Elements are spelled as in FieldsV1: `f:name`, `k:{"name":"x"}`, `v:"x"`.
 */
export interface Fields {
  readonly self: boolean;
  readonly below: ReadonlyMap<string, Fields>;
}

/** The empty set. */
export const noFields: Fields = { self: false, below: new Map() };

/** The set of one place. */
export const onePlace: Fields = { self: true, below: new Map() };

/** Whether nothing is in the set. */
export function isEmpty({ self, below }: Fields): boolean {
  return !self && below.size === 0;
}

/** A set without its empty branches. */
export function fieldSet(self: boolean, below: Iterable<readonly [string, Fields]>): Fields {
  return { self, below: new Map([...below].filter(([, fields]) => !isEmpty(fields))) };
}

/** What is in either. */
export function union(a: Fields, b: Fields): Fields {
  const both = [...a.below].map(
    ([element, fields]) => [element, union(fields, b.below.get(element) ?? noFields)] as const,
  );
  const added = [...b.below].filter(([element]) => !a.below.has(element));
  return fieldSet(a.self || b.self, [...both, ...added]);
}

/** What is in `a` and not in `b`. */
export function minus(a: Fields, b: Fields): Fields {
  const left = [...a.below].map(
    ([element, fields]) => [element, minus(fields, b.below.get(element) ?? noFields)] as const,
  );
  return fieldSet(a.self && !b.self, left);
}

/** What is in both. */
export function intersection(a: Fields, b: Fields): Fields {
  return minus(a, minus(a, b));
}

/** With every place on the way to one that is in the set. */
export function withAncestors(fields: Fields): Fields {
  return fieldSet(
    !isEmpty(fields),
    [...fields.below].map(([element, inner]) => [element, withAncestors(inner)] as const),
  );
}

/** The set as `managedFields[].fieldsV1` spells it. */
export function renderFields({ self, below }: Fields): Readonly<Record<string, unknown>> {
  const own = self && below.size > 0 ? { ".": {} } : {};
  return { ...own, ...Object.fromEntries([...below].map(([element, fields]) => [element, renderFields(fields)])) };
}

/** Reads a `fieldsV1`; what is no tree of fields is an empty set. */
export function parseFields(value: unknown): Fields {
  const { self: _, ...whole } = parseTree(value);
  return { self: false, ...whole };
}

function parseTree(value: unknown): Fields {
  if (typeof value !== "object" || value === null) return noFields;
  const entries = Object.entries(value);
  const below = entries
    .filter(([element]) => element !== ".")
    .map(([element, inner]) => [element, parseTree(inner)] as const);
  return { self: below.length === 0 || below.length < entries.length, below: new Map(below) };
}
