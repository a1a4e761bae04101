import { matchesGlob } from "node:path";
import type { Manager } from "./manager.ts";
import { enablementOf, findUnit, unitNames } from "./unit-files.ts";
import { listed, type Flags } from "./words.ts";

/** The lines of `list-units`: units that are up or have failed, by their kinds, states and patterns. */
export function listUnits(manager: Manager, patterns: readonly string[], flags: Flags): string {
  const names = manager.known().filter((name) => isAsked(name, patterns, flags));
  const states = [...listed(flags.state), ...(flags.failed === true ? ["failed"] : [])];
  const lines = names.flatMap((name) => {
    const { active, sub } = manager.stateOf(name);
    const isShown = states.length === 0 || states.includes(active) || states.includes(sub);
    return isShown ? [`${name} loaded ${active} ${sub} ${descriptionOf(name)}`] : [];
  });
  return lines.map((line) => `${line}\n`).join("");
}

/** The lines of `list-unit-files`. */
export function listUnitFiles(patterns: readonly string[], flags: Flags): string {
  const names = unitNames().filter((name) => isAsked(name, patterns, flags));
  return names.map((name) => `${name} ${enablementOf(name) ?? "bad"} -\n`).join("");
}

/** What the unit says that it is. */
export const descriptionOf = (name: string): string => findUnit(name)?.settings.last("Description") ?? name;

function isAsked(name: string, patterns: readonly string[], { type }: Flags): boolean {
  const kinds = listed(type);
  if (kinds.length > 0 && !kinds.some((kind) => name.endsWith(`.${kind}`))) return false;
  return patterns.length === 0 || patterns.some((pattern) => matchesGlob(name, pattern));
}
