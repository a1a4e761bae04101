import type { UnitFile } from "./unit-files.ts";

/**
 * Runs the work for each unit, for those in no order at the same time: when it has ended for all of these units that the
 * unit comes after. A circle is cut where it is closed.
 */
export async function inOrder(
  units: readonly UnitFile[],
  work: (unit: UnitFile) => Promise<void>,
  direction: "forward" | "backward" = "forward",
): Promise<void> {
  const begun = new Map<string, Promise<void>>();
  const before = predecessors(units, direction);
  const run = async (unit: UnitFile, path: readonly string[]): Promise<void> => {
    const first = (before.get(unit.name) ?? []).filter(({ name }) => !path.includes(name));
    await Promise.all(first.map(async (each) => await begin(each, [...path, unit.name])));
    await work(unit);
  };
  const begin = async (unit: UnitFile, path: readonly string[]): Promise<void> => {
    const known = begun.get(unit.name) ?? run(unit, path);
    begun.set(unit.name, known);
    await known;
  };
  await Promise.all(units.map(async (unit) => await begin(unit, [])));
}

function predecessors(units: readonly UnitFile[], direction: "forward" | "backward") {
  const pairs = units.flatMap(({ name, settings }) => [
    ...settings.words("After").map((other) => [other, name] as const),
    ...settings.words("Before").map((other) => [name, other] as const),
  ]);
  const byName = new Map(units.map((unit) => [unit.name, unit]));
  const before = new Map<string, UnitFile[]>();
  for (const [earlier, later] of pairs) {
    const [one, other] = direction === "forward" ? [earlier, later] : [later, earlier];
    const unit = byName.get(one);
    if (unit !== undefined && one !== other) before.set(other, [...(before.get(other) ?? []), unit]);
  }
  return before;
}
