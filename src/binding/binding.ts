import { isDeepStrictEqual } from "node:util";
import { BoundElsewhere } from "./bound-elsewhere.ts";
import { revisionOf, type BindingMemory, type Memory, type MemoryVersion } from "./memory.ts";
import type { RegisterVersion, BindingRegister } from "./register.ts";
import { formatRevision, isSameRevision, nextRevision, parseRevision, type Revision } from "./revision.ts";

/** A cluster whose register names a revision that is not this cluster's. */
export interface Mismatch {
  readonly own: Revision;
  readonly named: Revision;
  /** Which of the two is behind: the cluster, if it is a copy or was restored; the register, if that was. */
  readonly behind: "cluster" | "register";
}

/** A cluster's memory, its register, and how a mismatch is explained. Times are ms. */
export interface BindingDeps {
  readonly memory: Memory;
  readonly register: BindingRegister;
  /** The sentence for operators: what is wrong, and what to do. */
  readonly explain: (mismatch: Mismatch) => string;
  /** From one revision to the next. */
  readonly period?: number;
  readonly wallClock?: () => number;
}

/**
 * Tells a cluster from a restored copy of it. Both the cluster and a register outside of its etcd name a revision; a process
 * advances it when it starts and every five minutes, by compare-and-swap in both places. A copy comes back with an earlier revision
 * and is refused, unless it is younger than two revisions: of such a pair, the one that advances first displaces the other.
 *
 * At any moment the register names `revision` or `next` of the original's memory: `next` is written there before the register,
 * and `revision` after it. A process may be killed at each line.
 */
export function createBinding(deps: BindingDeps) {
  const { memory, register, explain, period = 5 * 60_000, wallClock = Date.now } = deps;
  let started = false;

  const isDue = ({ advancedAt }: BindingMemory): boolean =>
    !started || advancedAt === undefined || wallClock() - Date.parse(advancedAt) >= period;

  /** Reads memory and register at one moment: the memory did not change while the register was read. */
  const readBoth = async (): Promise<Reading> => {
    for (let own = await memory.read(); ;) {
      const at = await register.read();
      const again = await memory.read();
      if (own.memory.revision === again.memory.revision && own.memory.next === again.memory.next)
        return { own: again, at };
      own = again;
    }
  };

  /** Throws. A cluster that is behind remembers it, for those that read its memory; false if the memory has changed. */
  const refuse = async (own: MemoryVersion, named: Revision): Promise<false> => {
    const remembered = revisionOf(own.memory);
    const revision = remembered ?? nextRevision(undefined, undefined); // an operator may decide for this cluster, and needs a name for it
    const behind = remembered === undefined ? "cluster" : behindOf(remembered, named);
    const message = explain({ own: revision, named, behind });
    const changed = {
      ...own.memory,
      ...(remembered === undefined && { next: formatRevision(revision) }),
      ...(behind === "cluster" && { refused: message }),
    };
    if (!isDeepStrictEqual(changed, own.memory) && !(await memory.write(own, changed))) return false;
    await register.claim(revision);
    throw new BoundElsewhere(message);
  };

  /** Remembers that the register names this cluster; whichever process of the cluster is first will do. */
  const remember = async (own: MemoryVersion): Promise<void> => {
    const { refused, ...kept } = own.memory;
    const { confirmedAt } = kept;
    const recently = confirmedAt !== undefined && wallClock() - Date.parse(confirmedAt) < CONFIRMED_RECENTLY;
    if (recently && refused === undefined) return;
    await memory.write(own, { ...kept, confirmedAt: new Date(wallClock()).toISOString() });
  };

  /** Takes the next revision; false if another process was faster in either place. */
  const advance = async (own: MemoryVersion, at: RegisterVersion): Promise<boolean> => {
    const current = parseRevision(own.memory.revision);
    const pending = parseRevision(own.memory.next);
    const reusable = pending !== undefined && pending.number > (at.revision?.number ?? 0);
    const next = reusable ? pending : nextRevision(current, at.revision);
    if (!reusable && !(await memory.write(own, { ...own.memory, next: formatRevision(next) }))) return false;
    return await register.take(at, next);
  };

  /** Completes the revision that the register has taken; false if another process was faster. */
  const settle = async (own: MemoryVersion): Promise<boolean> => {
    const { next, refused: _refused, ...kept } = own.memory;
    const time = new Date(wallClock()).toISOString();
    return await memory.write(own, { ...kept, ...(next && { revision: next }), advancedAt: time, confirmedAt: time });
  };

  /** What the register says of this cluster. */
  const judge = ({ own, at }: Reading): "own" | "pending" | "chosen" | "unbound" | "foreign" => {
    const [current, pending] = [parseRevision(own.memory.revision), parseRevision(own.memory.next)];
    if (at.revision === undefined) return "unbound";
    if (isSameRevision(pending, at.revision)) return "pending";
    if ([current, pending].some((revision) => isSameRevision(revision, at.rebindTo))) return "chosen";
    return isSameRevision(current, at.revision) ? "own" : "foreign";
  };

  return {
    /** Throws `BoundElsewhere` as `confirm` does, and changes nothing: for those who act on the cluster from outside. */
    async check(): Promise<void> {
      const { own, at } = await readBoth();
      if (at.revision === undefined || judge({ own, at }) !== "foreign") return;
      const revision = revisionOf(own.memory);
      if (revision !== undefined)
        throw new BoundElsewhere(
          explain({ own: revision, named: at.revision, behind: behindOf(revision, at.revision) }),
        );
    },

    /**
     * Confirms that this cluster is the one that the register means, and advances the revision when it is due. Throws
     * `BoundElsewhere` where the register means another copy, or is itself behind.
     */
    async confirm(): Promise<void> {
      for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
        const { own, at } = await readBoth();
        const judgement = judge({ own, at });
        if (judgement === "pending") {
          started = true;
          if (await settle(own)) return;
        } else if (judgement === "foreign" && at.revision !== undefined) await refuse(own, at.revision);
        else if (judgement === "own" && !isDue(own.memory)) return await remember(own);
        else await advance(own, at);
      }
      throw new Error("cannot confirm the cluster's binding: other processes change it again and again");
    },
  };
}

interface Reading {
  readonly own: MemoryVersion;
  readonly at: RegisterVersion;
}

const behindOf = (own: Revision, named: Revision): Mismatch["behind"] =>
  named.number < own.number ? "register" : "cluster";

/** How often a process that loses every race tries. */
const MOST_ATTEMPTS = 20;

/** In ms: a confirmation that is younger is not written again. */
const CONFIRMED_RECENTLY = 15_000;
