import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../api/schema/meta.ts";
import { withoutServerFields } from "./stored-object.ts";

/** A field that two objects do not have alike; a value is undefined where one has none. */
export interface DifferingField {
  /** As `spec.provider.workers[0].name`. */
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The fields, as deep as they can be named, in which an object has become another; none where both say the same. */
export function differingFields(before: unknown, after: unknown, field = ""): readonly DifferingField[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (isMap(before) && isMap(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      differingFields(before[key], after[key], `${field}${stepTo(key)}`.replace(/^\./, "")),
    );
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((item: unknown, index) => differingFields(item, after[index], `${field}[${index}]`));
  return [{ field, before, after }];
}

/**
 * The fields in which what the operator has written stands against the garden, from the garden to the operator. What an
 * operator leaves out, gardens fill in; the content of Secrets and ConfigMaps, and the uid of a Shoot, they do not.
 */
export function contradictions(inGarden: KubeObject, own: KubeObject): readonly DifferingField[] {
  const isFilledIn = ({ field, after }: DifferingField) =>
    after === undefined && field !== "metadata.uid" && !["Secret", "ConfigMap"].includes(own.kind);
  return differingFields(withoutServerFields(inGarden), withoutServerFields(own)).filter((one) => !isFilledIn(one));
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const stepTo = (key: string): string => (/^[\w-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);
