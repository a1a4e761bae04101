import type { Fields } from "./field-set.ts";
import { isMap, partsOf, type Part, type Place } from "./shape.ts";

/** What stands at a place after `applied` has been laid over it: maps and lists with keys are joined, all else is replaced. */
export function merge(live: Place, applied: unknown): unknown {
  const [before, after] = [partsOf(live), partsOf({ ...live, value: applied })];
  if (before === undefined || after === undefined) return applied;
  const was = new Map(before.map((part) => [part.element, part]));
  const join = (part: Part): unknown => {
    const old = was.get(part.element);
    return old === undefined ? part.value : merge({ ...old, rules: live.rules }, part.value);
  };
  if (Array.isArray(applied) && Array.isArray(live.value)) return ordered(before, after, join);
  if (!isMap(applied) || !isMap(live.value)) return applied;
  return { ...live.value, ...Object.fromEntries(after.map((part) => [nameOf(part), join(part)])) };
}

/** Items that both have stand in the new order; those of others stay between them where they were. */
function ordered(before: readonly Part[], after: readonly Part[], join: (part: Part) => unknown): unknown[] {
  const wanted = new Set(after.map(({ element }) => element));
  const present = new Set(before.map(({ element }) => element));
  const rest = [...before];
  const result: unknown[] = [];
  const takeOthers = (): void => {
    for (let next = rest[0]; next !== undefined && !wanted.has(next.element); next = rest[0]) {
      result.push(next.value);
      rest.shift();
    }
  };
  for (const part of after) {
    if (present.has(part.element)) {
      takeOthers();
      const at = rest.findIndex(({ element }) => element === part.element);
      rest.splice(at, 1);
    }
    result.push(join(part));
  }
  return [...result, ...rest.map(({ value }) => value)];
}

/** A value without these fields; a map or list that loses its last one goes, too: undefined. */
export function without(place: Place, gone: Fields): unknown {
  if (gone.self) return undefined;
  const parts = partsOf(place);
  if (parts === undefined || gone.below.size === 0) return place.value;
  const left = parts.flatMap((part) => {
    const inner = gone.below.get(part.element);
    const value = inner === undefined ? part.value : without({ ...part, rules: place.rules }, inner);
    return value === undefined ? [] : [{ part, value }];
  });
  if (left.length === 0 && parts.length > 0) return undefined;
  if (Array.isArray(place.value)) return left.map(({ value }) => value);
  return Object.fromEntries(left.map(({ part, value }) => [nameOf(part), value]));
}

const nameOf = ({ element }: Part): string => element.slice("f:".length);
