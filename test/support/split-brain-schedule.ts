import fc from "fast-check";
import type { Pause } from "./model-process.ts";

/** In ms. */
export const LEASE = 60_000;

/** What the guard promises to cope with: pauses, and the time that a call is under way after its end, together 0.6 leases. */
export const BOUND = 0.6 * LEASE;

/** Of which this much is the call's, at most. */
export const LONGEST_FLIGHT = 0.1 * LEASE;

/** Everything that chance decides in one run of the model. Times are ms; a clock of rate 1.1 shows 11 s after 10. */
export interface Schedule {
  /** The first leads from A, the next from B, then A again, …; after the last of these, one more leads to the end. */
  readonly terms: readonly Term[];
  readonly flowRate: number;
  readonly lastRate: number;
  /** How far the flow's wall clock is set forward during each wait. */
  readonly step: number;
  /** For each secondary, how long it takes to learn of a change. */
  readonly lags: readonly number[];
  /** How long the second server of each address takes, where an address is two. */
  readonly otherLag: number;
  /** A server that joins the zone when the first change is near, if any does; `lag` is as above. */
  readonly joins?: { readonly at: number; readonly lag: number } | undefined;
  /**
   * The first secondary, which has stopped copying, is taken out of the zone so long after the first flow has begun to wait
   * for all servers.
   */
  readonly leaves?: number | undefined;
  /** The primary is restored from a backup so long after the former leader's controller was refused, and for so long. */
  readonly goesBack?: { readonly at: number; readonly length: number } | undefined;
  /** How long the resolver of each process goes on without knowing of a change of the servers, in turn. */
  readonly resolvers: readonly number[];
  /** Until when the resolver of a flow, and of a controller, denies that the zone exists. */
  readonly denials: readonly number[];
  /** How long a cache before each process keeps answers, in turn; 0 where there is none. */
  readonly caches: readonly number[];
  /** How long the leases of the objects are, as parts of the longest. */
  readonly leases: readonly number[];
  /** What happens to each question, in turn. */
  readonly packets: readonly { readonly lost: boolean; readonly there: number; readonly back: number }[];
  /** What controllers do, in turn: after `gap` a call that takes `duration`, and has effects for `flight` after that. */
  readonly acts: readonly { readonly gap: number; readonly duration: number; readonly flight: number }[];
}

/** One leader's turn, and what happens to its controller around the end of it. */
export interface Term {
  /** From when the flow is there to end it. */
  readonly lasts: number;
  readonly rate: number;
  /** When the controller can't reach the DNS, counted from half a lease before the change. */
  readonly outage: { readonly at: number; readonly length: number };
  /** From there on, whether it reaches the first secondary only. */
  readonly halfCutOff: boolean;
  /** Counted from there, too. */
  readonly pauses: readonly Pause[];
  /**
   * Where it hurts most: the change comes `after` the controller's question has reached a server, none reaches one any
   * more, but for the one that is still within reach, and the controller looks at its permit `margin` before the end and then stands still for `pause`.
   */
  readonly aim?: { readonly after: number; readonly margin: number; readonly pause: number } | undefined;
}

const ms = (most: number) => fc.integer({ min: 0, max: most });

/** Half of the time near where it hurts most: clocks as wrong as can be, cut off at the change, still as the lease ends. */
const near = (from: number, to: number, most: number) =>
  fc.oneof(ms(most), fc.integer({ min: from * LEASE, max: to * LEASE }));

/** In one of three schedules. */
const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

/** Whatever may happen, with no process standing still for longer than `paused` in all. */
export function schedules(paused: number): fc.Arbitrary<Schedule> {
  const terms = fc.array(termOf(paused), { minLength: 1, maxLength: 2 });
  const act = fc.record({
    gap: fc.oneof(fc.constant(0), ms(8_000)),
    duration: ms(16_000),
    flight: fc.oneof(fc.constant(LONGEST_FLIGHT), ms(LONGEST_FLIGHT)),
  });
  return fc.record({
    terms,
    flowRate: rate("fast"),
    lastRate: rate("fast"),
    step: fc.oneof(fc.constant(0), ms(LEASE / 2)),
    lags: fc.oneof(fc.array(fc.constant(0), { maxLength: 2 }), fc.array(ms(2 * LEASE), { maxLength: 3 })),
    otherLag: ms(3 * LEASE),
    joins: rarely(fc.record({ at: ms(LEASE), lag: ms(3 * LEASE) })),
    leaves: rarely(ms(LEASE)),
    goesBack: rarely(fc.record({ at: ms(LEASE), length: ms(4 * LEASE) })),
    resolvers: fc.array(fc.oneof(fc.constant(0), ms(LEASE)), { minLength: 4, maxLength: 4 }),
    denials: fc.array(fc.oneof(fc.constant(0), ms(6 * LEASE)), { minLength: 2, maxLength: 2 }),
    caches: fc.array(fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(LEASE) }), {
      minLength: 5,
      maxLength: 5,
    }),
    leases: fc.array(fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constant(0.5) }), {
      minLength: 3,
      maxLength: 3,
    }),
    packets: packets(),
    acts: fc.array(act, { minLength: 7, maxLength: 7 }),
  });
}

function rate(worst: "fast" | "slow"): fc.Arbitrary<number> {
  return fc.oneof(
    fc.constant(worst === "fast" ? 1.1 : 0.9),
    fc.integer({ min: 900, max: 1_100 }).map((rate) => rate / 1_000),
  );
}

function termOf(paused: number): fc.Arbitrary<Term> {
  return fc.record({
    lasts: ms(LEASE),
    rate: rate("slow"),
    outage: fc.oneof(
      { weight: 1, arbitrary: fc.constant({ at: 0, length: 0 }) },
      { weight: 2, arbitrary: fc.record({ at: near(0.3, 0.6, LEASE), length: near(1, 3, 3 * LEASE) }) },
    ),
    halfCutOff: fc.nat(2).map((drawn) => drawn === 0),
    pauses: pausesOf(paused),
    aim: fc.option(
      fc.record({ after: ms(500), margin: ms(2_000), pause: fc.oneof(fc.constant(paused), ms(paused)) }),
      { nil: undefined, freq: 2 }, // in half of them
    ),
  });
}

function pausesOf(paused: number): fc.Arbitrary<Pause[]> {
  const pause = fc.record({
    at: near(0.9, 1.6, 2 * LEASE),
    share: fc.integer({ min: 1, max: 100 }),
    afterCheck: fc.boolean(),
  });
  return fc.array(pause, { maxLength: 3 }).map((list) => {
    const sum = list.reduce((shares, { share }) => shares + share, 0);
    return list.map(({ at, share, afterCheck }) => ({
      ...{ at, afterCheck },
      length: Math.floor((share / Math.max(100, sum)) * paused),
    }));
  });
}

function packets(): fc.Arbitrary<Schedule["packets"]> {
  const packet = (most: number) => fc.record({ luck: ms(99), there: ms(most), back: ms(most) });
  const list = (most: number) => fc.array(packet(most), { minLength: 23, maxLength: 23 });
  return fc
    .tuple(fc.constantFrom(0, 0, 5, 30), fc.oneof(list(40), list(1_200)))
    .map(([loss, drawn]) => drawn.map(({ luck, ...times }) => ({ lost: luck < loss, ...times })));
}
