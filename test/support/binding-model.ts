import type { BindingMemory, Memory } from "../../src/binding/memory.ts";
import type { TurnRegister } from "../../src/binding/register.ts";
import { createTurns, type Mismatch } from "../../src/binding/turns.ts";
import { formatTurn, type Turn } from "../../src/binding/turn.ts";

/** How an access is carried out: at once, or when a scheduler of a test says so. */
export type Access = <T>(what: string, act: () => T) => Promise<T>;

const atOnce: Access = async (_what, act) => await Promise.resolve(act());

/** The memory of a cluster, held in this process; `copy` is what a restored backup of it holds. */
export function createModelCluster(initial: BindingMemory = {}) {
  let memory = initial;
  let version = 1;
  return {
    memory: () => memory,
    copy: () => createModelCluster(memory),
    client: (access: Access = atOnce): Memory => ({
      read: () => access("read memory", () => ({ memory, record: { data: {}, resourceVersion: String(version) } })),
      write: (read, changed) =>
        access("write memory", () => {
          if (read.record.resourceVersion !== String(version)) return false;
          memory = changed;
          version += 1;
          return true;
        }),
    }),
  };
}

/** A register, held in this process; `goBack` restores it to what `keep` returned. */
export function createModelRegister() {
  let named: { turn: Turn | undefined; rebindTo: Turn | undefined } = { turn: undefined, rebindTo: undefined };
  let version = 1;
  const swap = (read: unknown, next: typeof named): boolean => {
    if (read !== version) return false;
    named = next;
    version += 1;
    return true;
  };
  return {
    turn: () => named.turn,
    keep: () => named,
    goBack(kept: typeof named) {
      named = kept;
      version += 1;
    },
    client: (access: Access = atOnce): TurnRegister => ({
      read: () => access("read register", () => ({ ...named, version })),
      take: (read, turn) => access("take turn", () => swap(read.version, { turn, rebindTo: undefined })),
      rebind: (read, to) => access("rebind", () => swap(read.version, { turn: read.turn, rebindTo: to })),
      claim: async () => {},
    }),
  };
}

/** A process that confirms the binding of a cluster; its wall clock stands where the test sets it. */
export function createModelTurns(
  cluster: ReturnType<typeof createModelCluster>,
  register: ReturnType<typeof createModelRegister>,
  { access = atOnce, wallClock = () => 0 }: { access?: Access; wallClock?: () => number } = {},
) {
  const explain = ({ own, named, behind }: Mismatch) =>
    `${behind} behind: ${formatTurn(own)}, not ${formatTurn(named)}`;
  return createTurns({ memory: cluster.client(access), register: register.client(access), explain, wallClock });
}
