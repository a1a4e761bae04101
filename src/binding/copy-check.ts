import type { BindingMemory } from "./memory.ts";

/** How a cluster's bindings are read; the clock shows ms since the epoch. */
export interface CopyCheckDeps {
  /** The bindings that the cluster remembers; none where Perennial has bound nothing. */
  readonly read: () => Promise<readonly BindingMemory[]>;
  readonly wallClock?: () => number;
}

/** Why a cluster may not be acted on: its worker was refused, or has yet to confirm that it is the one that is meant. */
export interface Refusal {
  readonly is: "refused" | "unconfirmed";
  readonly reason: string;
}

/** Whether a cluster may be acted on, as its own memory has it. */
export interface CopyCheck {
  /** Returns undefined where the cluster may be acted on. Throws when its memory cannot be read. */
  refusal(): Promise<Refusal | undefined>;
}

/**
 * Judges by the memory of a cluster whether it is a restored copy: one whose worker has found that the register names a later
 * revision, and, while this process has not seen any, one whose last confirmation is older than five minutes, as in a cluster that
 * has just been restored. A process that has seen a confirmation needs no other: the register may be away for as long as it likes.
 */
export function createCopyCheck({ read, wallClock = Date.now }: CopyCheckDeps): CopyCheck {
  let confirmed = false;
  return {
    async refusal() {
      const memories = await read();
      const acting = memories.filter(({ refused }) => refused === undefined);
      if (memories.length > 0 && acting.length === 0)
        return { is: "refused", reason: memories.map(({ refused }) => refused).join("; ") };
      confirmed ||= acting.some(({ confirmedAt = "" }) => wallClock() - Date.parse(confirmedAt) < FRESH);
      if (memories.length === 0 || confirmed) return undefined;
      const reason = `the cluster may be a restored copy: nothing has confirmed its binding since ${latestOf(acting)}, and its worker, or its manager, does so as soon as it runs`;
      return { is: "unconfirmed", reason };
    },
  };
}

/** In ms: how old a confirmation may be by which a process begins to act. */
const FRESH = 5 * 60_000;

const latestOf = (memories: readonly BindingMemory[]): string =>
  memories
    .map(({ confirmedAt = "it was bound" }) => confirmedAt)
    .toSorted()
    .at(-1) ?? "it was bound";
