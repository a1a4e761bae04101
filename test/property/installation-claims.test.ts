import fc from "fast-check";
import { expect, test } from "vitest";
import { conflictsOf, stronger, type Claim, type Claims } from "../../src/activities/installation/conflicts.ts";

/** A Secret of manifests: whose, which objects it has, and its version. */
interface Part {
  readonly owner: string;
  readonly objects: readonly string[];
  readonly version: number;
}

/** What a seed has: Secrets, and of each installation the Secret that is applied. */
interface World {
  parts: readonly Part[];
  readonly applied: Map<string, Part>;
}

const claimsIn = ({ parts, applied }: World): Map<string, Claims> => {
  const all = new Map<string, Map<string, Claim>>();
  for (const part of parts) {
    const own = all.get(part.owner) ?? new Map<string, Claim>();
    const claim = { applied: applied.get(part.owner) === part, version: part.version };
    for (const object of part.objects) own.set(object, stronger(own.get(object), claim));
    all.set(part.owner, own);
  }
  return new Map([...all].map(([owner, objects]) => [owner, { owner, objects }]));
};

/**
 * One installation's work, each line of which others may come between: it writes its Secret, looks, applies or withdraws, and
 * clears what is replaced. A crash ends it anywhere.
 */
function* installing(world: World, owner: string, objects: readonly string[], nextVersion: () => number) {
  const part: Part = { owner, objects, version: nextVersion() };
  world.parts = [...world.parts, part];
  yield;
  const claims = claimsIn(world);
  const own = claims.get(owner);
  claims.delete(owner);
  yield;
  const isFree = own !== undefined && conflictsOf(own, claims.values()).length === 0;
  if (isFree) world.applied.set(owner, part);
  yield;
  world.parts = world.parts.filter((one) => one.owner !== owner || one === world.applied.get(owner));
}

const owners = fc.constantFrom("a", "b", "c");
const objects = fc.uniqueArray(fc.constantFrom("x", "y", "z"), { minLength: 1 });
const turn = fc.oneof(
  { weight: 1, arbitrary: fc.record({ begin: owners, objects }) },
  { weight: 4, arbitrary: fc.record({ goOn: owners }) },
  { weight: 1, arbitrary: fc.record({ crash: owners }) },
);

test("however installations, upgrades and crashes interleave, no object is applied for two installations", () => {
  fc.assert(
    fc.property(fc.array(turn, { minLength: 20, maxLength: 60, size: "max" }), (turns) => {
      const world: World = { parts: [], applied: new Map() };
      const running = new Map<string, Generator>();
      let version = 0;
      for (const now of turns) {
        if ("begin" in now && !running.has(now.begin))
          running.set(
            now.begin,
            installing(world, now.begin, now.objects, () => (version += 1)),
          );
        if ("crash" in now) running.delete(now.crash);
        if ("goOn" in now && running.get(now.goOn)?.next().done === true) running.delete(now.goOn);
        const all = [...world.applied.values()].flatMap((part) => part.objects);
        expect(all.length).toBe(new Set(all).size);
      }
    }),
    { numRuns: 3_000 },
  );
});

test("an object that no other installation has is always free", () => {
  const own: Claims = { owner: "a", objects: new Map([["x", { applied: false, version: 2 }]]) };
  const others: Claims[] = [{ owner: "b", objects: new Map([["y", { applied: true, version: 1 }]]) }];
  expect(conflictsOf(own, others)).toEqual([]);
});
