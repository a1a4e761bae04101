import { isDeepStrictEqual } from "node:util";
import type { FoundField } from "../../api/schema/walk.ts";
import { ignoredFields } from "../../api/shoot/ignored.ts";

/** Says of known fields that are new in an object, a Shoot unless told otherwise, that nothing acts on them. */
export function fieldWarnings(
  changed: readonly FoundField[],
  ignored: Readonly<Record<string, string>> = ignoredFields,
): string[] {
  const warnings = changed.flatMap(({ path, field, value, schema }) => {
    const instead = ignored[field];
    if (schema === undefined || instead === undefined || isDeepStrictEqual(value, schema["default"])) return [];
    return [`${path}: nothing acts on this field: ${instead}`];
  });
  return warnings.slice(0, mostNamed);
}

/** API servers cut off what is longer than 4 KiB together. */
const mostNamed = 15;
