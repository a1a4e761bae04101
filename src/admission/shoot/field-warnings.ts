import { isDeepStrictEqual } from "node:util";
import type { FoundField } from "../../api/schema/walk.ts";
import { ignoredFields } from "../../api/shoot/ignored.ts";

/** Says of known fields that are new in a Shoot that nothing acts on them. */
export function fieldWarnings(changed: readonly FoundField[]): string[] {
  const warnings = changed.flatMap(({ path, field, value, schema }) => {
    const instead = ignoredFields[field];
    if (schema === undefined || instead === undefined || isDeepStrictEqual(value, schema["default"])) return [];
    return [`${path}: nothing acts on this field: ${instead}`];
  });
  return warnings.slice(0, mostNamed);
}

/** API servers cut off what is longer than 4 KiB together. */
const mostNamed = 15;
