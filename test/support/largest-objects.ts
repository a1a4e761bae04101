import type { KubeObject } from "../../src/api/index.ts";
import { toCustomResourceDefinition } from "../../src/api/schema/crd.ts";
import type { Resource } from "../../src/api/schema/resource.ts";
import type { JsonSchema } from "../../src/api/schema/structural.ts";

/** What may be spent on an object. */
interface Budget {
  bytes: number;
  values: number;
}

/** Many small values, or few long ones. */
export type Shape = "many" | "long";

/** An object that is as large as its schema and a budget let it be in one of its fields. */
export interface LargeObject {
  /** The list, the map, the text or the part for a provider that is large: `spec.provider.workers[].labels`. */
  readonly field: string;
  readonly object: KubeObject;
}

/** One object for each list, map, text without a bound and part for a provider that users write, made from an example of its kind. */
export function* largestObjects(
  resource: Resource,
  example: KubeObject,
  { shape, ...most }: { readonly shape: Shape } & Readonly<Budget>,
): Generator<LargeObject> {
  const schema = schemaOf(resource);
  for (const steps of largeFields(schema)) {
    const maker = createMaker(shape, { ...most });
    yield { field: steps.join(".").replaceAll(".[]", "[]"), object: maker.along(schema, steps, example) as KubeObject };
  }
}

/** What the API server checks of what users write: all but the metadata and the status. */
function schemaOf(resource: Resource): JsonSchema {
  const { spec } = toCustomResourceDefinition(resource) as unknown as Definition;
  const { properties = {}, ...schema } = spec.versions.find(({ storage }) => storage)?.schema.openAPIV3Schema ?? {};
  const { apiVersion: _, kind: __, metadata: ___, status: ____, ...written } = properties;
  return { ...schema, properties: written };
}

interface Definition {
  readonly spec: {
    readonly versions: readonly {
      readonly storage: boolean;
      readonly schema: { readonly openAPIV3Schema: JsonSchema };
    }[];
  };
}

/** The way to each field of which there can be much. */
function* largeFields(schema: JsonSchema, steps: readonly string[] = []): Generator<readonly string[]> {
  const { properties = {}, items, additionalProperties } = schema;
  const isLeft = isOpen(schema) && Object.keys(properties).length === 0;
  if (items !== undefined || isMap(additionalProperties) || isLeft || isLongText(schema)) yield steps;
  if (isOpen(schema) && steps.length < 2) yield [...steps, UNKNOWN];
  for (const [name, inner] of Object.entries(properties)) yield* largeFields(inner, [...steps, name]);
  if (items !== undefined) yield* largeFields(items, [...steps, "[]"]);
}

/** Stands for fields that a schema does not name. */
const UNKNOWN = "*";

const isMap = (values: JsonSchema["additionalProperties"]): values is JsonSchema =>
  typeof values === "object" && Object.keys(values).length > 0;

const isOpen = (schema: JsonSchema): boolean => schema["x-kubernetes-preserve-unknown-fields"] === true;

const isLongText = ({ type, ...schema }: JsonSchema): boolean =>
  type === "string" && schema["enum"] === undefined && Number(schema["maxLength"] ?? Infinity) > 100_000;

function createMaker(shape: Shape, left: Budget) {
  let count = 0;

  /** The example with the field at the end of the way as large as can be, in each item of the lists that it is in. */
  function along(schema: JsonSchema, [step, ...rest]: readonly string[], example: unknown): unknown {
    if (step === undefined) return whole(schema);
    if (step === UNKNOWN) return { ...(example as object), ...(config(Infinity) as object) };
    if (step === "[]") return itemsAlong(schema, rest, example);
    const given = (example ?? least(schema)) as Record<string, unknown>;
    const inner = schema.properties?.[step] ?? {};
    return { ...given, [step]: along(inner, rest, given[step]) };
  }

  function itemsAlong(schema: JsonSchema, rest: readonly string[], example: unknown): unknown[] {
    const { items = {} } = schema;
    const [first = least(items)] = Array.isArray(example) ? (example as readonly unknown[]) : [];
    return repeat(schema["maxItems"], () => spent(withOwnName(along(items, rest, first), schema)));
  }

  /** Items of a list are told apart by their keys. */
  function withOwnName(item: unknown, list: JsonSchema): unknown {
    const keys = (list["x-kubernetes-list-map-keys"] ?? []) as readonly string[];
    const own = keys.map((key) => [key, text(list.items?.properties?.[key] ?? {})] as const);
    return keys.length === 0 ? item : { ...(item as object), ...Object.fromEntries(own) };
  }

  /** All that the schema lets a value have. */
  function whole(schema: JsonSchema): unknown {
    const { type, items, properties = {}, additionalProperties } = schema;
    if (items !== undefined) return repeat(schema["maxItems"], () => whole(items));
    if (isMap(additionalProperties))
      return Object.fromEntries(repeat(schema["maxProperties"], () => [key(), whole(additionalProperties)] as const));
    if (Object.keys(properties).length > 0) {
      const fields = Object.entries(properties).filter(([name]) => hasRoom() || schema.required?.includes(name));
      return spent(Object.fromEntries(fields.map(([name, inner]) => [name, whole(inner)])));
    }
    if (isOpen(schema) || type === "object" || type === undefined) return config();
    return spent(scalar(schema));
  }

  /** As many as the schema lets be, and as there is room for. */
  function repeat<T>(most: unknown, make: () => T): T[] {
    const made: T[] = [];
    while (made.length < Number(most ?? Infinity) && hasRoom()) made.push(make());
    return made;
  }

  /** What a value must have. */
  function least(schema: JsonSchema): unknown {
    const { type, items, properties = {}, required = [], additionalProperties } = schema;
    if (items !== undefined) return [];
    if (required.length > 0)
      return Object.fromEntries(required.map((name) => [name, least(properties[name] ?? {})] as const));
    if (isMap(additionalProperties) || type === "object" || type === undefined) return {};
    return scalar(schema);
  }

  function config(most = 1): unknown {
    const entries: [string, unknown][] = [];
    for (let size = 0; size < most * 120_000 && entries.length < most * 2_400 && hasRoom();) {
      const value = shape === "long" ? "v".repeat(4_000) : { v: entries.length };
      entries.push([key(), spent(value)]);
      size += (typeof value === "string" ? value.length : 10) + 12;
    }
    return Object.fromEntries(entries);
  }

  function scalar(schema: JsonSchema): unknown {
    const { type, minimum = 0, maximum = 2 ** 31 - 1 } = schema;
    if (schema["x-kubernetes-int-or-string"] === true) return 1;
    if (type === "boolean") return true;
    if (type === "integer" || type === "number") return Math.min(Math.max(minimum, count % 1_000), maximum);
    return text(schema);
  }

  function text(schema: JsonSchema): string {
    const [first] = (schema["enum"] ?? []) as readonly string[];
    if (first !== undefined) return first;
    const room = shape === "long" ? Math.max(64, Math.floor(left.bytes)) : 16;
    const most = Math.min(Number(schema["maxLength"] ?? Infinity), room);
    const pattern = patternOf(schema);
    const fits = (one: string) => one.length <= most && (pattern?.test(one) ?? true);
    const word = unknownWord(most);
    const fit = fits(word) ? word : samples.find(fits);
    if (fit === undefined) throw new Error(`there is no sample of a text of the form ${String(schema["pattern"])}`);
    return fit;
  }

  const patterns = new Map<unknown, RegExp>();
  function patternOf({ pattern }: JsonSchema): RegExp | undefined {
    if (typeof pattern !== "string") return undefined;
    const known = patterns.get(pattern) ?? new RegExp(pattern);
    patterns.set(pattern, known);
    return known;
  }

  const unknownWord = (length: number) => `w${(count += 1)}`.padEnd(Math.max(0, length), "xabc").slice(0, length);
  const key = () => (shape === "long" ? unknownWord(60) : `k${(count += 1)}`);
  const hasRoom = () => left.bytes > 0 && left.values > 0;

  /** Takes what a value costs by itself from the budget. */
  function spent<T>(value: T): T {
    left.values -= 1;
    left.bytes -= typeof value === "string" ? value.length + 12 : 16;
    return value;
  }

  return { along };
}

/** Texts of the forms of src/api/schema/syntax.ts. */
const samples = [
  ...["1.34.4", "10.96.0.0/16", "1h30m", "220000+0100", "0 20 * * 1-5", "20Gi", "Europe/Berlin", "v1", "a", ""],
  ...["2030-01-01T00:00:00Z", "10.0.0.1"],
];
