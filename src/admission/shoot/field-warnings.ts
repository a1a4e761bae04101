import { isDeepStrictEqual } from "node:util";
import type { FoundField } from "../../api/schema/walk.ts";
import { ignoredFields } from "../../api/shoot/ignored.ts";
import { suggestion } from "../text.ts";

/** Says of fields that are new in a Shoot that nothing acts on them: unknown ones, which may be misspelt, and ignored ones. */
export function fieldWarnings(changed: readonly FoundField[]): string[] {
  const warnings = changed.flatMap(({ path, field, value, schema, known }) => {
    if (schema === undefined) {
      const name = path.split(".").at(-1) ?? "";
      const meant = suggestion(name, known, path.slice(0, -name.length));
      return [`${path.slice(0, 150)}: unknown field${meant}, nothing acts on it`];
    }
    const instead = ignoredFields[field];
    if (instead === undefined || isDeepStrictEqual(value, schema["default"])) return [];
    return [`${path}: nothing acts on this field: ${instead}`];
  });
  return warnings.slice(0, mostNamed);
}

/** API servers cut off what is longer than 4 KiB together. */
const mostNamed = 15;
