import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findConflict, LEASE, runModel, type Protocol, type Schedule } from "../support/split-brain.ts";

/** What the guard promises to cope with: pauses, and the time that a call is under way after its end, together 0.6 leases. */
const BOUND = 0.6 * LEASE;
const LONGEST_FLIGHT = 0.1 * LEASE;
const SCHEDULES = 10_000;

describe("over random schedules of clocks, servers, packets and pauses", () => {
  test(`no controller acts while a later leader's does, in ${SCHEDULES} of them`, { timeout: 900_000 }, async () => {
    const seen = { schedules: 0, acts: 0, handedOver: 0, again: 0, closest: Infinity };
    await fc.assert(
      fc.asyncProperty(schedules(BOUND - LONGEST_FLIGHT), async (schedule) => {
        const acts = await runModel(schedule);
        expect(findConflict(acts)).toBeUndefined();
        const epochs = new Set(acts.map(({ epoch }) => epoch));
        seen.schedules++;
        seen.acts += acts.length;
        if (epochs.has(2) && epochs.has(1)) seen.handedOver++;
        if (epochs.has(3)) seen.again++;
        seen.closest = Math.min(seen.closest, ...gaps(acts));
      }),
      { numRuns: SCHEDULES },
    );
    expect(seen.schedules).toBe(SCHEDULES);
    expect(seen.handedOver).toBeGreaterThan(SCHEDULES / 2);
    expect(seen.again).toBeGreaterThan(SCHEDULES / 10);
    process.stdout.write(
      `split brain: ${seen.schedules} schedules, ${seen.acts} acts, ${seen.handedOver} with acts of two leaders, ` +
        `${seen.again} with acts of a third; closest to each other ${(seen.closest / LEASE).toFixed(2)} leases\n`,
    );
  });

  test.each<[string, Protocol, number]>([
    ["waits one lease instead of two", { waits: 1 }, BOUND],
    ["does not wait until all servers name the new leader", { asksAll: false }, BOUND],
    ["asks only a resolver which servers there are", { asksForList: false }, BOUND],
    ["lets controllers ask a cache", { cache: 2 * LEASE }, BOUND],
    ["has to cope with pauses of two leases", {}, 2 * LEASE + LONGEST_FLIGHT],
  ])("two controllers act at once if the protocol %s", { timeout: 120_000 }, async (_how, protocol, bound) => {
    const property = fc.asyncProperty(schedules(bound - LONGEST_FLIGHT), async (schedule) => {
      expect(findConflict(await runModel(schedule, protocol))).toBeUndefined();
    });
    const { failed, numRuns } = await fc.check(property, { numRuns: SCHEDULES, endOnFailure: true });
    expect(failed).toBe(true);
    process.stdout.write(`split brain: caught after ${numRuns} schedules: ${_how}\n`);
  });
});

/** How long after the last act of each leader the first one of the next began. */
function gaps(acts: Awaited<ReturnType<typeof runModel>>): number[] {
  return [2, 3].flatMap((epoch) => {
    const earlier = acts.filter((act) => act.epoch < epoch).map(({ end }) => end);
    const later = acts.filter((act) => act.epoch === epoch).map(({ start }) => start);
    return later.length === 0 || earlier.length === 0 ? [] : [Math.min(...later) - Math.max(...earlier)];
  });
}

/** Whatever may happen, with no process standing still for longer than `paused` in all. */
function schedules(paused: number): fc.Arbitrary<Schedule> {
  const ms = (most: number) => fc.integer({ min: 0, max: most });
  // Half of the time near where it hurts most: clocks as wrong as can be, cut off at the change, still as the lease ends.
  const near = (from: number, to: number, most: number) =>
    fc.oneof(ms(most), fc.integer({ min: from * LEASE, max: to * LEASE }));
  const rate = fc.oneof(
    fc.constantFrom(0.9, 1.1),
    fc.integer({ min: 900, max: 1_100 }).map((rate) => rate / 1_000),
  );
  const pause = fc.record({
    at: near(0.9, 1.6, 2 * LEASE),
    share: fc.integer({ min: 1, max: 100 }),
    afterCheck: fc.boolean(),
  });
  const pauses = fc.array(pause, { maxLength: 3 }).map((list) => {
    const whole = Math.max(
      100,
      list.reduce((sum, { share }) => sum + share, 0),
    );
    return list.map(({ at, share, afterCheck }) => ({ at, afterCheck, length: Math.floor((share / whole) * paused) }));
  });
  const outage = fc.record({ at: near(0.3, 0.6, LEASE), length: near(1, 3, 3 * LEASE) });
  const term = fc.record({ lasts: ms(LEASE), rate, outage, pauses });
  const packet = fc.record({ luck: ms(99), there: ms(3_000), back: ms(3_000) });
  const packets = fc.tuple(fc.constantFrom(0, 5, 30), fc.array(packet, { minLength: 23, maxLength: 23 }));
  const act = fc.record({ gap: ms(8_000), duration: ms(16_000), flight: ms(LONGEST_FLIGHT) });
  return fc.record({
    terms: fc.array(term, { minLength: 1, maxLength: 2 }),
    flowRate: rate,
    lastRate: rate,
    lags: fc.array(ms(2 * LEASE), { maxLength: 3 }),
    joins: fc.option(fc.record({ at: ms(LEASE), lag: ms(3 * LEASE) }), { nil: undefined }),
    resolvers: fc.array(fc.oneof(fc.constant(0), ms(3 * LEASE)), { minLength: 4, maxLength: 4 }),
    packets: packets.map(([loss, list]) => list.map(({ luck, ...times }) => ({ lost: luck < loss, ...times }))),
    acts: fc.array(act, { minLength: 7, maxLength: 7 }),
  });
}
