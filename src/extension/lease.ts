import { setTimeout as delay } from "node:timers/promises";
import { monotonicNow } from "../kube/index.ts";

/** The passing of time, in ms. It is never set back or forward; what it shows means nothing to another process. */
export interface Clock {
  now(): number;
  /** Resolves after `duration`, or as soon as the signal aborts. */
  sleep(duration: number, signal: AbortSignal): Promise<void>;
}

/** The monotonic clock of this process. */
export const monotonicClock: Clock = {
  now: monotonicNow,
  sleep: (duration, signal) => delay(duration, undefined, { signal }).catch(() => undefined),
};

/** A right that ends by itself unless it is confirmed again and again. */
export interface Lease {
  /** Aborts when the lease is over. A timer does that, and after a pause answers are handled before timers: see `check`. */
  readonly signal: AbortSignal;
  /** Throws the reason once the lease is over, as the clock says at this very moment. */
  check(): void;
  /** Ends it; nothing is asked any more. */
  release(): void;
}

/** What a lease is held on. */
export interface LeaseTerms {
  /** In ms. */
  readonly duration: number;
  /** Resolves when the right is confirmed; throws when it isn't. */
  readonly confirm: () => Promise<void>;
  /** Whether what `confirm` threw says that the right is another's: that ends the lease at once. */
  readonly isLoss: (error: unknown) => boolean;
  /** The error that ends it when it was not confirmed in time. */
  readonly expired: () => Error;
  readonly clock: Clock;
}

/**
 * Confirms once and then every third of the duration, sooner after a failure. Each time counts from when the question was
 * sent, because the answer may have been true only then. Throws when the first question isn't answered well and in time.
 */
export async function acquireLease({ duration, confirm, isLoss, expired, clock }: LeaseTerms): Promise<Lease> {
  const over = new AbortController();
  const released = new AbortController();
  const ended = AbortSignal.any([over.signal, released.signal]);

  const first = clock.now();
  await confirm();
  let until = first + duration;

  const check = () => {
    if (!over.signal.aborted && clock.now() >= until) over.abort(expired());
    over.signal.throwIfAborted();
  };

  /** An answer that comes after the end changes nothing: the lease is checked before it is prolonged. */
  const renew = async (): Promise<boolean> => {
    const sent = clock.now();
    try {
      await confirm();
      check();
      until = sent + duration;
      return true;
    } catch (error) {
      if (isLoss(error)) over.abort(error);
      return false;
    }
  };
  const keep = async () => {
    for (let confirmed = true; ; confirmed = await renew()) {
      await clock.sleep(duration / (confirmed ? 3 : 12), ended);
      if (ended.aborted) return;
    }
  };
  const end = async () => {
    while (!ended.aborted) {
      await clock.sleep(Math.max(1, until - clock.now()), ended);
      if (!ended.aborted && clock.now() >= until) over.abort(expired());
    }
  };

  check();
  void keep();
  void end();
  return { signal: over.signal, check, release: () => released.abort() };
}
