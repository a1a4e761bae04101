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

/**
 * Turns what zod says about a value into a schema that an API server takes for structural. Objects keep the fields
 * that the schema does not name. Throws for what has no structural form, such as a union, naming the field.
 */
export function toStructural(schema: JsonSchema, path: string): JsonSchema {
  const { description, default: fallback } = schema;
  const common = { ...(description && { description }), ...(fallback !== undefined && { default: fallback }) };
  if (schema["x-kubernetes-int-or-string"]) return { ...common, "x-kubernetes-int-or-string": true };
  for (const keyword of ["$ref", "anyOf", "oneOf", "allOf", "not"]) {
    if (keyword in schema) throw new Error(`cannot describe ${path} to an API server: ${keyword} is not structural`);
  }
  switch (schema.type) {
    case undefined:
      return { ...common, "x-kubernetes-preserve-unknown-fields": true };
    case "object":
      return { ...common, ...structuralObject(schema, path) };
    case "array":
      return { ...common, ...kept(schema), items: toStructural(schema.items ?? {}, `${path}[]`) };
    case "integer":
      return { ...common, ...kept(schema), ...integer(schema) };
    default:
      return { ...common, ...kept(schema), ...bounds(schema), ...(schema.format && { format: schema.format }) };
  }
}

function structuralObject(schema: JsonSchema, path: string): JsonSchema {
  const { properties, additionalProperties, required } = schema;
  const open = typeof additionalProperties === "object" && Object.keys(additionalProperties).length === 0;
  if (typeof additionalProperties === "object" && !open) {
    return { ...kept(schema), additionalProperties: toStructural(additionalProperties, `${path}{}`) };
  }
  const fields = Object.entries(properties ?? {}).map(([name, field]) => [
    name,
    toStructural(field, `${path}.${name}`),
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
  return { format: maximum !== undefined && maximum <= 2 ** 31 - 1 ? "int32" : "int64", ...bounds(schema) };
}

/** zod bounds every integer; only bounds that a schema chose itself say something. */
function bounds({ minimum, maximum }: JsonSchema): JsonSchema {
  const chosen = (bound: number | undefined) => bound !== undefined && !typeBounds.has(bound);
  return { ...(chosen(minimum) && { minimum }), ...(chosen(maximum) && { maximum }) };
}

const typeBounds: ReadonlySet<number> = new Set([
  Number.MIN_SAFE_INTEGER,
  Number.MAX_SAFE_INTEGER,
  -(2 ** 31),
  2 ** 31 - 1,
]);

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
  "nullable",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-validations",
]);
