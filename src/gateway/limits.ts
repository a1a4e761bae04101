import { status } from "@grpc/grpc-js";
import type { Identity } from "./identity.ts";
import { Refusal } from "./refusal.ts";
import { createRate, createShares, type Share } from "./shares.ts";

/** What callers of one kind may use of one gateway; each is a caller's own part and the total of all callers of that kind. */
export interface Limits {
  readonly connections: Share;
  /** Calls that wait for a task. */
  readonly polls: Share;
  /** All other calls. */
  readonly calls: Share;
  /** Requests and answers in memory. */
  readonly bytes: Share;
  /** Calls per second that reach the frontend. */
  readonly rate: Share;
}

/** The limits of both kinds of callers. */
export type AllLimits = Readonly<Record<Identity["kind"], Limits>>;

const MiB = 1024 * 1024;

/**
 * A worker of a seed holds 2 connections, twice that while they are replaced, up to 20 polls and 50 activities; a seed has
 * two of it, and three during a roll-out. A worker of the garden holds up to 20 polls for each build.
 */
export const defaultLimits: AllLimits = {
  seed: {
    connections: { own: 16, total: 2_000 },
    polls: { own: 60, total: 400 },
    calls: { own: 200, total: 1_000 },
    bytes: { own: 8 * MiB, total: 32 * MiB },
    rate: { own: 300, total: 600 },
  },
  garden: {
    connections: { own: 100, total: 400 },
    polls: { own: 200, total: 400 },
    calls: { own: 500, total: 1_000 },
    bytes: { own: 32 * MiB, total: 64 * MiB },
    rate: { own: 2_000, total: 4_000 },
  },
};

/** What one caller holds for one connection or call. */
export interface Lease {
  /** Throws `Refusal` when that is too much. */
  take(what: Held, amount?: number): void;
  /**
   * Holds an answer that has come. Where that is too much, ends answers of this caller that are not read yet, the oldest first;
   * throws `Refusal` where even that does not help. `end` ends this one.
   */
  keep(bytes: number, end: () => void): void;
  /** Gives everything back; nothing is taken any more. */
  close(): void;
}

/** What is held for a time. */
export type Held = Exclude<keyof Limits, "rate">;

/** Counts what each caller uses, by its name. */
export interface Quotas {
  open(caller: Caller): Lease;
  /** Counts calls to the frontend; throws `Refusal` when they come too fast. */
  count(caller: Caller, calls: number): void;
}

/** Enforces the limits. */
export function createQuotas(limits: AllLimits): Quotas {
  const quotas = { seed: createKind(limits.seed), garden: createKind(limits.garden) };
  const unread = createUnread();
  const refuse = ({ kind, name }: Caller, what: keyof Limits): never => {
    const { own, total } = limits[kind][what];
    const { noun, remedy } = words[what];
    throw new Refusal(
      status.RESOURCE_EXHAUSTED,
      `${name} has too many ${noun} at this gateway: the limit is ${own}, or less while all ${plural[kind]} together come ` +
        `near their limit of ${total}; ${remedy}`,
    );
  };
  return {
    open(caller) {
      const shares = quotas[caller.kind];
      const held: (() => void)[] = [];
      let closed = false;
      const note = (what: Held, amount: number) => void held.push(() => shares[what].give(caller.name, amount));
      const close = () => {
        closed = true;
        for (const give of held.splice(0)) give();
      };
      return {
        take(what, amount = 1) {
          if (closed) throw new Refusal(status.CANCELLED, `${caller.name} has gone`);
          if (!shares[what].take(caller.name, amount)) refuse(caller, what);
          note(what, amount);
        },
        keep(bytes, end) {
          while (!closed && !shares.bytes.take(caller.name, bytes))
            if (!unread.endOldest(caller)) refuse(caller, "bytes");
          if (closed) return;
          note("bytes", bytes);
          const forget = unread.add(caller, () => {
            close();
            end();
          });
          held.push(forget);
        },
        close,
      };
    },
    count(caller, calls) {
      if (!quotas[caller.kind].rate.take(caller.name, calls)) refuse(caller, "rate");
    },
  };
}

/** The answers of each caller that are not read yet, by what ends them. */
function createUnread() {
  const known = new Map<string, Set<() => void>>();
  const keyOf = ({ kind, name }: Caller) => `${kind} ${name}`;
  return {
    add(caller: Caller, end: () => void): () => void {
      const key = keyOf(caller);
      const ends = known.get(key) ?? new Set();
      known.set(key, ends.add(end));
      return () => {
        ends.delete(end);
        if (ends.size === 0) known.delete(key);
      };
    },
    /** False where there is none. */
    endOldest(caller: Caller): boolean {
      const [end] = known.get(keyOf(caller)) ?? [];
      end?.();
      return end !== undefined;
    },
  };
}

const plural = { seed: "seeds", garden: "callers of the garden" } as const;

type Caller = Pick<Identity, "kind" | "name">;

const createKind = ({ connections, polls, calls, bytes, rate }: Limits) => ({
  connections: createShares(connections),
  polls: createShares(polls),
  calls: createShares(calls),
  bytes: createShares(bytes),
  rate: createRate(rate),
});

const words: Readonly<Record<keyof Limits, { readonly noun: string; readonly remedy: string }>> = {
  connections: { noun: "connections", remedy: "close connections, or run fewer replicas of the worker" },
  polls: {
    noun: "waiting polls",
    remedy:
      "run fewer replicas of the worker, or raise PERENNIAL_GATEWAY_SEED_POLLS or PERENNIAL_GATEWAY_ALL_SEEDS_POLLS",
  },
  calls: { noun: "calls under way", remedy: "wait for answers before the next call" },
  bytes: { noun: "bytes in flight", remedy: "try again when other calls have been answered" },
  rate: {
    noun: "calls per second",
    remedy: "call less often, or raise PERENNIAL_GATEWAY_SEED_RATE or PERENNIAL_GATEWAY_ALL_SEEDS_RATE",
  },
};
