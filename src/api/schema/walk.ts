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

/** Every field of a value, from the outside in. Nothing is below a field that the schema does not name, or leaves to a provider. */
export function* fieldsOf(schema: JsonSchema, value: unknown, path: string, field = path): Generator<FoundField> {
  if (Array.isArray(value)) {
    if (schema.items === undefined) return;
    for (const [index, item] of value.entries())
      yield* withInner({
        path: `${path}[${index}]`,
        field: `${field}[]`,
        value: item,
        schema: schema.items,
        known: [],
      });
  } else if (typeof value === "object" && value !== null) {
    for (const [name, inner] of Object.entries(value)) yield* member({ schema, path, field }, name, inner);
  }
}

interface Place {
  readonly schema: JsonSchema;
  readonly path: string;
  readonly field: string;
}

function* member({ schema, path, field }: Place, name: string, value: unknown): Generator<FoundField> {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined && Object.keys(properties).length > 0) {
    const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const at = { path: `${path}.${name}`, field: `${field}.${name}` };
    yield* withInner({ ...at, value, ...(inner && { schema: inner }), known: Object.keys(properties) });
  } else if (typeof additionalProperties === "object" && Object.keys(additionalProperties).length > 0) {
    const at = { path: `${path}[${JSON.stringify(name)}]`, field: `${field}{}` };
    yield* withInner({ ...at, value, schema: additionalProperties, known: [] });
  }
}

function* withInner(field: FoundField): Generator<FoundField> {
  yield field;
  if (field.schema) yield* fieldsOf(field.schema, field.value, field.path, field.field);
}
