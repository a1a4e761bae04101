import type { JsonSchema } from "../../src/api/schema/structural.ts";

/** A field without fields of its own: its path, such as `spec.provider.workers[].name`, and its schema. */
export interface Leaf {
  readonly path: string;
  readonly schema: JsonSchema;
}

/** The fields that have no fields of their own. */
export function leavesOf(schema: JsonSchema, path: string): Leaf[] {
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length > 0) return properties.flatMap(([name, inner]) => leavesOf(inner, `${path}.${name}`));
  return schema.items ? leavesOf(schema.items, `${path}[]`) : [{ path, schema }];
}

/** Values that a field may have: more than one where its schema lets it. */
export function samplesOf(schema: JsonSchema): unknown[] {
  const { type, enum: words, minimum = 0, maximum = 2 ** 31, pattern, additionalProperties } = schema;
  if (Array.isArray(words)) return words;
  if (type === "boolean") return [true, false];
  if (type === "integer") return [minimum, minimum + 7, minimum + 11].filter((value) => value <= maximum);
  if (type === "number") return [0.25, 0.5];
  if (type === "string")
    return texts.filter((text) => new RegExp(typeof pattern === "string" ? pattern : "").test(text));
  if (type !== "object") return ["100Mi", "200Mi", "11%", 3];
  if (typeof additionalProperties === "object" && Object.keys(additionalProperties).length > 0)
    return samplesOf(additionalProperties).map((value) => ({ sample: value }));
  return [1, 2].map((sample) => ({ apiVersion: "a/v1", kind: "A", sample }));
}

/** A copy of an object with another value at a path such as `spec.workers[].name`, in the first item of each list. */
export function withField<T extends object>(object: T, path: string, value: unknown): T {
  const copy = structuredClone(object);
  const steps = path.split(/[.]|(?=\[\])/);
  const last = steps.pop() ?? "";
  let place = copy as Record<string, unknown>;
  for (const [index, step] of steps.entries()) {
    const next = (steps[index + 1] ?? last) === "[]" ? [] : {};
    place = (place[step === "[]" ? "0" : step] ??= next) as Record<string, unknown>;
  }
  if (value === undefined) Reflect.deleteProperty(place, last === "[]" ? "0" : last);
  else place[last === "[]" ? "0" : last] = value;
  return copy;
}

const texts = [
  ...["7m0s", "9m0s", "33Gi", "44Gi", "1.34.4", "1.33.9", "10.77.0.0/16", "10.78.0.0/16", "2026-01-01T00:00:00Z"],
  ...["https://issuer.example.com", "sample", "other", "secrets", "configmaps", "KubeletReady", "NodeReady"],
];
