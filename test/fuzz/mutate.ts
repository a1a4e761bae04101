import { hostileWords } from "../support/hostile-words.ts";
import type { Chance } from "./random.ts";

/** A copy of a JSON value with a few things in it deleted, replaced, doubled or added. */
export function mutate<T>(value: T, chance: Chance): T {
  const copy = structuredClone(value) as unknown;
  const times = 1 + chance.below(4);
  for (let n = 0; n < times; n += 1) change(copy, chance);
  return copy as T;
}

type Container = Record<string, unknown> | unknown[];

/** Each part of the object is as likely as any other to be what changes. */
function change(root: unknown, chance: Chance): void {
  const places = containersIn(root).flatMap((container) => Object.keys(container).map((key) => ({ container, key })));
  const place = places[chance.below(places.length)];
  if (place === undefined) return;
  const { container, key } = place;
  const fields = container as Record<string, unknown>;
  switch (chance.below(5)) {
    case 0:
      if (Array.isArray(container)) container.splice(Number(key), 1);
      else Reflect.deleteProperty(container, key);
      return;
    case 1:
      if (Array.isArray(container))
        container.push(...Array.from({ length: chance.below(300) }, () => structuredClone(fields[key])));
      else fields[hostileWord(chance)] = structuredClone(fields[key]);
      return;
    case 2:
      fields[key] = typeof fields[key] === "string" ? splice(fields[key], chance) : oddValue(chance);
      return;
    default:
      fields[key] = oddValue(chance);
  }
}

function containersIn(value: unknown): Container[] {
  if (typeof value !== "object" || value === null) return [];
  return [value as Container, ...Object.values(value).flatMap(containersIn)];
}

const hostileWord = (chance: Chance): string => hostileWords[chance.below(hostileWords.length)] ?? "";

function splice(text: string, chance: Chance): string {
  const at = chance.below(text.length + 1);
  return text.slice(0, at) + hostileWord(chance) + text.slice(at);
}

function oddValue(chance: Chance): unknown {
  return chance.oneOf<() => unknown>([
    () => null,
    () => true,
    () => -1,
    () => 2 ** 53,
    () => 0.5,
    () => "",
    () => " ",
    () => "x".repeat(chance.below(20_000)),
    () => hostileWord(chance),
    () => [],
    () => ({}),
    () => [null],
    () => ({ name: hostileWord(chance), namespace: hostileWord(chance), kind: "Secret", apiVersion: "../v1" }),
    () => JSON.parse('{"__proto__":{"polluted":true},"constructor":1,"toString":2}') as unknown,
    () => Array.from({ length: chance.below(500) }, (_, n) => ({ name: `n${n}`, type: "t" })),
  ])();
}
