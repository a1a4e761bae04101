import fc from "fast-check";
import { expect, test } from "vitest";
import { disabled, enabled, needed, present } from "../../src/api/registration/demand.ts";
import type { Offer, Registered } from "../../src/api/registration/registered.ts";
import { createRequirements, type Asking, type SeedFacts } from "../../src/controllers/registration/requirements.ts";

const names = fc.constantFrom("a", "b", "c");
const seedNames = fc.constantFrom("seed-1", "seed-2");
const pairs = fc.record({ kind: fc.constantFrom("Network", "Worker"), type: fc.constantFrom("x", "y") });

const words = fc.array(
  fc.oneof(
    pairs.map(needed),
    fc.constantFrom("workers" as const, "workerless" as const).map(present),
    fc.constantFrom("workers" as const, "workerless" as const).map((one) => enabled("audit", one)),
    fc.constantFrom("workers" as const, "workerless" as const).map((one) => disabled("audit", one)),
  ),
  { maxLength: 4 },
);

const asking: fc.Arbitrary<Asking> = fc.record({
  seeds: fc.uniqueArray(seedNames, { maxLength: 2 }),
  words: words.map((list) => [...new Set(list)]),
});

const offer: fc.Arbitrary<Offer> = fc.oneof(
  fc.record({
    ...{ kind: fc.constantFrom("Network", "Worker"), type: fc.constantFrom("x", "y"), primary: fc.boolean() },
    workerlessSupported: fc.constant(false),
    autoEnable: fc.constant([]),
    compatible: fc.constant(["shoot" as const]),
  }),
  fc.record({
    ...{ kind: fc.constant("Extension"), type: fc.constant("audit"), primary: fc.boolean() },
    workerlessSupported: fc.boolean(),
    autoEnable: fc.subarray(["shoot", "seed"] as const),
    compatible: fc.subarray(["shoot", "seed"] as const),
  }),
);

const registered: fc.Arbitrary<Registered> = fc.record({
  name: names,
  uid: fc.constant("u"),
  createdAt: fc.constantFrom("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"),
  deleting: fc.boolean(),
  offers: fc.array(offer, { maxLength: 3 }),
  policy: fc.constantFrom("OnDemand", "Always", "AlwaysExceptNoShoots"),
  method: fc.constant({ by: "helm" as const }),
  specHash: fc.constant("h"),
});

const facts: fc.Arbitrary<SeedFacts> = fc.record({
  name: seedNames,
  deleting: fc.boolean(),
  metadata: fc.constant({}),
  spec: fc.constant({ provider: { type: "x" } }),
  own: fc.array(pairs.map(needed)).map((list) => new Set(list)),
  extensions: fc.constantFrom(
    new Map(),
    new Map([["audit", "enabled" as const]]),
    new Map([["audit", "disabled" as const]]),
  ),
});

type Change =
  | { readonly of: "object"; readonly id: string; readonly asking: Asking | undefined }
  | { readonly of: "seed"; readonly name: string; readonly facts: SeedFacts | undefined }
  | { readonly of: "registration"; readonly name: string; readonly registered: Registered | undefined };

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ of: fc.constant("object" as const), id: names, asking: fc.option(asking, { nil: undefined }) }),
  seedNames.chain((name) =>
    fc.record({
      of: fc.constant("seed" as const),
      name: fc.constant(name),
      facts: fc.option(
        facts.map((one) => ({ ...one, name })),
        { nil: undefined },
      ),
    }),
  ),
  names.chain((name) =>
    fc.record({
      of: fc.constant("registration" as const),
      name: fc.constant(name),
      registered: fc.option(
        registered.map((one) => ({ ...one, name })),
        { nil: undefined },
      ),
    }),
  ),
);

type Requirements = ReturnType<typeof createRequirements>;

function take(requirements: Requirements, one: Change): void {
  if (one.of === "object") requirements.ask(one.id, one.asking);
  else if (one.of === "seed") requirements.setSeed(one.name, one.facts);
  else requirements.setRegistration(one.name, one.registered);
}

const cells = ["a", "b", "c"].flatMap((name) => ["seed-1", "seed-2"].map((seed) => [name, seed] as const));

const decisions = (requirements: Requirements) =>
  Object.fromEntries(cells.map(([name, seed]) => [`${name} ${seed}`, requirements.reasons(name, seed).length > 0]));

test("whatever changes in whatever order, each decision that comes out otherwise is asked for, and no history matters", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 25 }), (changes) => {
      const acted: Record<string, boolean> = {};
      const due = new Set<string>();
      const requirements = createRequirements((name, seed) => due.add(`${name} ${seed}`));
      const last = new Map<string, Change>();
      for (const one of changes) {
        take(requirements, one);
        const now = decisions(requirements);
        for (const cell of due) acted[cell] = now[cell] ?? false;
        due.clear();
        for (const [cell, wanted] of Object.entries(now)) expect(acted[cell] ?? false, cell).toBe(wanted);
        last.set(`${one.of} ${one.of === "object" ? one.id : one.name}`, one);
      }
      const fresh = createRequirements(() => {});
      for (const one of last.values()) take(fresh, one);
      expect(decisions(requirements)).toEqual(decisions(fresh));
    }),
    { numRuns: 2_000 },
  );
});
