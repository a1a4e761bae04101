import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { JsonSchema } from "./structural.ts";

/** A field that an object has, and what the schema says of it. */
export interface FoundField {
  /** Where it is in the object: `spec.provider.workers[0].labels["a"]`. */
  readonly path: string;
  /** Which field of the schema it is: `spec.provider.workers[].labels{}`. */
  readonly field: string;
  readonly value: unknown;
  /** Absent for a field that the schema does not name. */
  readonly schema?: JsonSchema;
  /** What else the schema names at this place. */
  readonly known: readonly string[];
}

/** The JSON schema of a part of an object, with all that its fields say of themselves. */
export function jsonSchemaOf(part: z.ZodType): JsonSchema {
  return z.toJSONSchema(part, {
    target: "openapi-3.0",
    io: "input",
    reused: "inline",
    unrepresentable: "throw",
  }) as JsonSchema;
}

/**
 * The fields of a value that an older one does not have, or has with another value; from the outside in. Nothing is below a field
 * that the schema does not name, or leaves to a provider.
 */
export function changedFieldsOf(schema: JsonSchema, value: unknown, old: unknown, path: string): FoundField[] {
  const found: FoundField[] = [];
  collect({ schema, path, field: path }, value, old, found);
  return found;
}

interface Place {
  readonly schema: JsonSchema;
  readonly path: string;
  readonly field: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Adds the changed fields that are within a value; returns whether there are any, or fewer than there were. */
function collect(place: Place, value: unknown, old: unknown, found: FoundField[]): boolean {
  if (Array.isArray(value)) return collectItems(place, value, old, found);
  if (!isFields(value)) return !Object.is(value, old);
  const innerOf = memberOf(place);
  if (innerOf === undefined) return !isDeepStrictEqual(value, old);
  const before = isFields(old) ? old : {};
  const entries = Object.entries(value);
  let isChanged = !isFields(old) || Object.keys(old).length > entries.length;
  for (const [name, inner] of entries)
    isChanged = add(innerOf(name, inner), Object.hasOwn(before, name), before[name], found) || isChanged;
  return isChanged;
}

function collectItems(
  { schema: { items }, path, field }: Place,
  value: readonly unknown[],
  old: unknown,
  found: FoundField[],
): boolean {
  if (items === undefined) return !isDeepStrictEqual(value, old);
  const before: readonly unknown[] = Array.isArray(old) ? old : [];
  let isChanged = !Array.isArray(old) || old.length > value.length;
  for (const [index, item] of value.entries()) {
    const inner = { path: `${path}[${index}]`, field: `${field}[]`, value: item, schema: items, known: [] };
    isChanged = add(inner, index in before, before[index], found) || isChanged;
  }
  return isChanged;
}

/** Adds a field and those within it, unless it was there before as it is now; returns whether it was added. */
function add(inner: FoundField, wasThere: boolean, old: unknown, found: FoundField[]): boolean {
  const at = found.length;
  found.push(inner);
  const { schema, path, field, value } = inner;
  const isChanged =
    schema === undefined ? !isDeepStrictEqual(value, old) : collect({ schema, path, field }, value, old, found);
  if (!wasThere || isChanged) return true;
  found.length = at;
  return false;
}

/** Says of each member of an object which field it is; undefined where the schema says nothing of them. */
function memberOf({ schema, path, field }: Place): ((name: string, value: unknown) => FoundField) | undefined {
  const { properties = {}, additionalProperties } = schema;
  const known = Object.keys(properties);
  if (known.length > 0)
    return (name, value) => {
      const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return { path: `${path}.${name}`, field: `${field}.${name}`, value, ...(inner && { schema: inner }), known };
    };
  if (typeof additionalProperties !== "object" || Object.keys(additionalProperties).length === 0) return undefined;
  return (name, value) => ({
    ...{ path: `${path}[${JSON.stringify(name)}]`, field: `${field}{}` },
    ...{ value, schema: additionalProperties, known: [] },
  });
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
