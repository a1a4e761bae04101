import { isDeepStrictEqual } from "node:util";
import { fieldSet, noFields, onePlace, union, type Fields } from "./field-set.ts";
import type { ListKey, ListRules } from "./lists.ts";

/** A value that is made of parts of different owners: a map, or a list whose items can be told apart. */
export interface Part {
  /** As FieldsV1 spells it. */
  readonly element: string;
  readonly value: unknown;
  /** Field names on the way to it. */
  readonly path: readonly string[];
  /** Whether the part is an item of a list: whose it is, is a question of its own. */
  readonly item: boolean;
}

/** A place in an object: what stands there, where it is, and how lists are shared. */
export interface Place {
  readonly value: unknown;
  readonly path: readonly string[];
  readonly rules: ListRules;
}

/** The parts of a value; undefined for one that has one owner as a whole. */
export function partsOf({ value, path, rules }: Place): readonly Part[] | undefined {
  if (Array.isArray(value)) return partsOfList(value, path, rules);
  if (!isMap(value)) return undefined;
  return Object.entries(value).map(([name, inner]) => ({
    element: `f:${name}`,
    value: inner,
    path: [...path, name],
    item: false,
  }));
}

/** Whether a value is a map of fields. */
export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function partsOfList(list: readonly unknown[], path: readonly string[], rules: ListRules): readonly Part[] | undefined {
  const rule = rules(path);
  if (rule === "atomic") return undefined;
  const parts = list.flatMap((value) => {
    const element = rule === "set" ? `v:${JSON.stringify(value)}` : elementOf(value, rule.keys);
    return element === undefined ? [] : [{ element, value, path, item: true }];
  });
  // Items that cannot be told apart have one owner together.
  return new Set(parts.map(({ element }) => element)).size === list.length ? parts : undefined;
}

function elementOf(item: unknown, keys: readonly ListKey[]): string | undefined {
  if (!isMap(item)) return undefined;
  const entries = keys.map(({ name, otherwise }) => [name, item[name] ?? otherwise] as const);
  if (entries.some(([, value]) => value === undefined)) return undefined;
  return `k:${JSON.stringify(Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1))))}`;
}

/** All fields of a value, down to what has one owner as a whole. */
export function fieldsOf(place: Place): Fields {
  const parts = partsOf(place);
  if (parts === undefined || parts.length === 0) return onePlace;
  return fieldSet(
    false,
    parts.map((part) => [part.element, fieldsOfPart(part, place.rules)]),
  );
}

function fieldsOfPart(part: Part, rules: ListRules): Fields {
  const fields = fieldsOf({ ...part, rules });
  return part.item ? { ...fields, self: true } : fields;
}

/** The fields in which two values of one place differ, those that only one has included. */
export function differences(a: Place, b: Place): Fields {
  if (isDeepStrictEqual(a.value, b.value)) return noFields;
  const [before, after] = [partsOf(a), partsOf(b)];
  if (before === undefined || after === undefined) return union(known(a), known(b));
  const then = new Map(before.map((part) => [part.element, part]));
  const now = new Map(after.map((part) => [part.element, part]));
  const elements = new Set([...then.keys(), ...now.keys()]);
  const changed = [...elements].map((element) => {
    const [was, is] = [then.get(element), now.get(element)];
    if (was !== undefined && is !== undefined)
      return [element, differences({ ...was, rules: a.rules }, { ...is, rules: a.rules })] as const;
    const only = was ?? is;
    return [element, only === undefined ? noFields : fieldsOfPart(only, a.rules)] as const;
  });
  return fieldSet(then.size === 0 || now.size === 0, changed);
}

const known = (place: Place): Fields => (place.value === undefined ? noFields : fieldsOf(place));
