/** The part of JSON schema that we write and that zod returns. */
export interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

/** How much of a value there may be, where its schema does not say it. */
export interface Bounds {
  readonly maxItems: number;
  readonly maxProperties: number;
  /** In characters; absent where texts are as long as they are. */
  readonly maxLength?: number;
}

/**
 * Turns what zod says about a value into a schema that an API server takes for structural. Objects keep the fields
 * that the schema does not name; lists, maps and texts get a bound. Throws for what has no structural form, such as a
 * union, naming the field.
 */
export function toStructural(schema: JsonSchema, path: string, bounds: Bounds): JsonSchema {
  const { description, default: fallback } = schema;
  const common = { ...(description && { description }), ...(fallback !== undefined && { default: fallback }) };
  if (schema["x-kubernetes-int-or-string"])
    return { ...common, ...kept(schema), ...range(schema), "x-kubernetes-int-or-string": true };
  for (const keyword of ["$ref", "anyOf", "oneOf", "allOf", "not"]) {
    if (keyword in schema) throw new Error(`cannot describe ${path} to an API server: ${keyword} is not structural`);
  }
  return { ...common, ...structuralForm(schema, path, bounds) };
}

function structuralForm(schema: JsonSchema, path: string, bounds: Bounds): JsonSchema {
  const { type, items = {}, format } = schema;
  switch (type) {
    case undefined:
      return { "x-kubernetes-preserve-unknown-fields": true };
    case "object":
      return structuralObject(schema, path, bounds);
    case "array":
      return { maxItems: bounds.maxItems, ...kept(schema), items: toStructural(items, `${path}[]`, bounds) };
    case "integer":
      return { ...kept(schema), ...integer(schema) };
    case "string":
      return { ...longest(schema, bounds), ...kept(schema), ...(format && { format }) };
    default:
      return { ...kept(schema), ...range(schema), ...(format && { format }) };
  }
}

/** Words of a closed list and times have a length already. */
function longest({ enum: words, format }: JsonSchema, { maxLength }: Bounds): JsonSchema {
  return words !== undefined || format === "date-time" || maxLength === undefined ? {} : { maxLength };
}

function structuralObject(schema: JsonSchema, path: string, bounds: Bounds): JsonSchema {
  const { properties, additionalProperties, required } = schema;
  const open = typeof additionalProperties === "object" && Object.keys(additionalProperties).length === 0;
  if (typeof additionalProperties === "object" && !open) {
    const { maxProperties } = bounds;
    const values = toStructural(additionalProperties, `${path}{}`, bounds);
    return { maxProperties, ...kept(schema), additionalProperties: values };
  }
  const fields = Object.entries(properties ?? {}).map(([name, field]) => [
    name,
    toStructural(field, `${path}.${name}`, bounds),
  ]);
  return {
    ...kept(schema),
    ...(open && { "x-kubernetes-preserve-unknown-fields": true }),
    ...(fields.length > 0 && { properties: Object.fromEntries(fields) as Record<string, JsonSchema> }),
    ...(required && required.length > 0 && { required }),
  };
}

function integer(schema: JsonSchema): JsonSchema {
  const { maximum } = schema;
  return { format: maximum !== undefined && maximum <= 2 ** 31 - 1 ? "int32" : "int64", ...range(schema) };
}

/** An API server takes a format for a hint only: without its bounds it would store numbers that we cannot read. */
function range({ minimum, maximum }: JsonSchema): JsonSchema {
  return { ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) };
}

function kept(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keptKeywords.has(keyword)));
}

const keptKeywords: ReadonlySet<string> = new Set([
  "type",
  "enum",
  "pattern",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "maxProperties",
  "nullable",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-validations",
]);
