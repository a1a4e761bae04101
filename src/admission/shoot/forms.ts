import type { JsonSchema } from "../../api/schema/structural.ts";
import { changedFieldsOf, jsonSchemaOf, type FoundField } from "../../api/schema/walk.ts";
import { shootSpec } from "../../api/shoot/spec.ts";
import { shorten } from "../text.ts";
import type { Cause } from "../review.ts";

const schema = jsonSchemaOf(shootSpec);

/** The fields of a Shoot's spec that a request sets or changes; what it leaves as it was is left out. */
export const changedFields = (spec: unknown, old: unknown): FoundField[] => changedFieldsOf(schema, spec, old, "spec");

/**
 * Why new texts of the spec do not have the form that they need. The API server checks the same forms, but can only quote the
 * pattern; it asks about defaults before, so that users read this. What is empty may yet be filled in.
 */
export function formCauses(changed: readonly FoundField[]): Cause[] {
  const causes = changed.flatMap(({ path, value, schema = {} }) => {
    const { form, maxLength } = schema as TextForm;
    if (typeof value !== "string" || value === "" || form === undefined || fits(value, schema)) return [];
    return [{ field: path, message: `${shorten(value)} is not ${form} (at most ${maxLength} characters)` }];
  });
  return causes.slice(0, mostNamed);
}

/** A refusal is for people. */
const mostNamed = 20;

/** What src/api/schema/syntax.ts says of a text. */
interface TextForm extends JsonSchema {
  readonly form?: string;
  readonly pattern?: string;
  readonly maxLength?: number;
}

function fits(text: string, { pattern = "", maxLength = Infinity }: TextForm): boolean {
  return text.length <= maxLength && new RegExp(pattern).test(text);
}
