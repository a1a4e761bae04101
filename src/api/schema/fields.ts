import { z } from "zod";

/** A JSON object whose content we do not interpret. */
export type Raw = Record<string, unknown>;

/** An object that names the fields we know and keeps those we do not; its type has only the known ones. */
export function object<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strip> {
  return z.looseObject(shape);
}

/** Any JSON object, kept as it is (a provider's configuration or state). */
export function raw<T extends object = Raw>(): z.ZodType<T, T> {
  return z.looseObject({}) as unknown as z.ZodType<T, T>;
}

/** Any JSON value, kept as it is. */
export const json = (): z.ZodUnknown => z.unknown();

/**
 * A text of which we know these values. Others are accepted, because its writer may be newer than we are, and an
 * unknown word must not make an object unreadable.
 */
export function openEnum<const Value extends string>(...values: readonly Value[]): z.ZodType<Value, Value> {
  return z.string().meta({ examples: [...values] }) as unknown as z.ZodType<Value, Value>;
}

/** RFC 3339, as the API server writes it. */
export const timestamp = () => z.string().meta({ format: "date-time" });

/** A number, or a text such as `25%`. */
export const intOrString = () => z.union([z.int(), z.string()]).meta({ "x-kubernetes-int-or-string": true });

/** Bytes as base64. */
export const bytes = () => z.string().max(1_500_000).meta({ format: "byte" });

/** CEL rules for the API server: each text keeps the first value that it got, and cannot be removed again. */
export function onceSet(...fields: readonly string[]): { "x-kubernetes-validations": readonly Rule[] } {
  return rules(
    ...fields.map((field) => ({
      rule: unchanged(field === "namespace" ? "__namespace__" : field), // a reserved word of CEL
      message: `${field} cannot be changed once it is set`,
      fieldPath: `.${field}`,
    })),
  );
}

function unchanged(field: string): string {
  return `!has(oldSelf.${field}) || oldSelf.${field} == '' || has(self.${field}) && self.${field} == oldSelf.${field}`;
}

/** A list of which the items are told apart by these fields, so that server-side apply can share it between writers. */
export function listMap(...keys: readonly string[]) {
  return { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys };
}

/** A CEL rule for the API server: the field keeps its value. */
export function immutable() {
  return rules({ rule: "self == oldSelf", message: "cannot be changed" });
}

/** CEL rules for the API server, for a schema's `.meta()`. */
export function rules(...rules: readonly Rule[]): { "x-kubernetes-validations": readonly Rule[] } {
  return { "x-kubernetes-validations": rules };
}

/** A CEL rule that the API server checks. */
export interface Rule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly fieldPath?: string;
  readonly reason?: "FieldValueForbidden" | "FieldValueInvalid" | "FieldValueRequired" | "FieldValueDuplicate";
  readonly optionalOldSelf?: boolean;
}
