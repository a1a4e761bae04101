import { isDeepStrictEqual } from "node:util";
import { BoundElsewhere } from "./bound-elsewhere.ts";
import type { BindingMemory, Memory, MemoryVersion } from "./memory.ts";
import type { RegisterVersion, TurnRegister } from "./register.ts";
import { formatTurn, isSameTurn, nextTurn, parseTurn, type Turn } from "./turn.ts";

/** A cluster whose register names a turn that is not this cluster's. */
export interface Mismatch {
  readonly own: Turn;
  readonly named: Turn;
  /** Which of the two is behind: the cluster, if it is a copy or was restored; the register, if that was. */
  readonly behind: "cluster" | "register";
}

/** A cluster's memory, its register, and how a mismatch is explained. Times are ms. */
export interface TurnsDeps {
  readonly memory: Memory;
  readonly register: TurnRegister;
  /** The sentence for operators: what is wrong, and what to do. */
  readonly explain: (mismatch: Mismatch) => string;
  /** From one turn to the next. */
  readonly period?: number;
  readonly wallClock?: () => number;
}

/**
 * Tells a cluster from a restored copy of it. Both the cluster and a register outside of its etcd name a turn; a process
 * advances it when it starts and every five minutes, by compare-and-swap in both places. A copy comes back with an earlier turn
 * and is refused, unless it is younger than two turns: of such a pair, the one that advances first displaces the other.
 *
 * At any moment the register names `turn` or `next` of the original's memory: `next` is written there before the register,
 * and `turn` after it. A process may be killed at each line.
 */
export function createTurns(deps: TurnsDeps) {
  const { memory, register, explain, period = 5 * 60_000, wallClock = Date.now } = deps;
  let started = false;

  const isDue = ({ advancedAt }: BindingMemory): boolean =>
    !started || advancedAt === undefined || wallClock() - Date.parse(advancedAt) >= period;

  /** Reads memory and register at one moment: the memory did not change while the register was read. */
  const readBoth = async (): Promise<Reading> => {
    for (let own = await memory.read(); ;) {
      const at = await register.read();
      const again = await memory.read();
      if (own.memory.turn === again.memory.turn && own.memory.next === again.memory.next) return { own: again, at };
      own = again;
    }
  };

  /** Throws. A cluster that is behind remembers it, for those that read its memory; false if the memory has changed. */
  const refuse = async (own: MemoryVersion, named: Turn): Promise<false> => {
    const remembered = parseTurn(own.memory.turn) ?? parseTurn(own.memory.next);
    const turn = remembered ?? nextTurn(undefined, undefined); // an operator may decide for this cluster, and needs a name for it
    const behind = remembered === undefined ? "cluster" : behindOf(remembered, named);
    const message = explain({ own: turn, named, behind });
    const changed = {
      ...own.memory,
      ...(remembered === undefined && { next: formatTurn(turn) }),
      ...(behind === "cluster" && { refused: message }),
    };
    if (!isDeepStrictEqual(changed, own.memory) && !(await memory.write(own, changed))) return false;
    await register.claim(turn);
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

  /** Takes the next turn; false if another process was faster in either place. */
  const advance = async (own: MemoryVersion, at: RegisterVersion): Promise<boolean> => {
    const current = parseTurn(own.memory.turn);
    const pending = parseTurn(own.memory.next);
    const reusable = pending !== undefined && pending.number > (at.turn?.number ?? 0);
    const next = reusable ? pending : nextTurn(current, at.turn);
    if (!reusable && !(await memory.write(own, { ...own.memory, next: formatTurn(next) }))) return false;
    return await register.take(at, next);
  };

  /** Completes the turn that the register has taken; false if another process was faster. */
  const settle = async (own: MemoryVersion): Promise<boolean> => {
    const { next, refused: _refused, ...kept } = own.memory;
    const time = new Date(wallClock()).toISOString();
    return await memory.write(own, { ...kept, ...(next && { turn: next }), advancedAt: time, confirmedAt: time });
  };

  /** What the register says of this cluster. */
  const judge = ({ own, at }: Reading): "own" | "pending" | "chosen" | "unbound" | "foreign" => {
    const [current, pending] = [parseTurn(own.memory.turn), parseTurn(own.memory.next)];
    if (at.turn === undefined) return "unbound";
    if (isSameTurn(pending, at.turn)) return "pending";
    if ([current, pending].some((turn) => isSameTurn(turn, at.rebindTo))) return "chosen";
    return isSameTurn(current, at.turn) ? "own" : "foreign";
  };

  return {
    /** Throws `BoundElsewhere` as `confirm` does, and changes nothing: for those who act on the cluster from outside. */
    async check(): Promise<void> {
      const { own, at } = await readBoth();
      if (at.turn === undefined || judge({ own, at }) !== "foreign") return;
      const turn = parseTurn(own.memory.turn) ?? parseTurn(own.memory.next);
      if (turn !== undefined)
        throw new BoundElsewhere(explain({ own: turn, named: at.turn, behind: behindOf(turn, at.turn) }));
    },

    /**
     * Confirms that this cluster is the one that the register means, and advances the turn when it is due. Throws
     * `BoundElsewhere` where the register means another copy, or is itself behind.
     */
    async confirm(): Promise<void> {
      for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
        const { own, at } = await readBoth();
        const judgement = judge({ own, at });
        if (judgement === "pending") {
          started = true;
          if (await settle(own)) return;
        } else if (judgement === "foreign" && at.turn !== undefined) await refuse(own, at.turn);
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

const behindOf = (own: Turn, named: Turn): Mismatch["behind"] => (named.number < own.number ? "register" : "cluster");

/** How often a process that loses every race tries. */
const MOST_ATTEMPTS = 20;

/** In ms: a confirmation that is younger is not written again. */
const CONFIRMED_RECENTLY = 15_000;
