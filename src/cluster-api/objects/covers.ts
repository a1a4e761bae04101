/**
 * Whether a stored value says all that is wanted. It may say more: defaults, rows of others, fields of others. Lists are the
 * same item by item, but for lists of named items, which are found by their names.
 */
export function covers(present: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) return Array.isArray(present) && coversList(present, wanted);
  if (isMap(wanted))
    return isMap(present) && Object.entries(wanted).every(([key, value]) => covers(present[key], value));
  return present === wanted;
}

function coversList(present: readonly unknown[], wanted: readonly unknown[]): boolean {
  if (wanted.length > 0 && wanted.every(isNamed))
    return wanted.every((item) =>
      covers(
        present.filter(isNamed).find(({ name }) => name === item.name),
        item,
      ),
    );
  return present.length === wanted.length && wanted.every((item, index) => covers(present[index], item));
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isNamed = (value: unknown): value is { readonly name: string } =>
  isMap(value) && typeof value["name"] === "string";
