import type { BindingMemory, Memory } from "../../src/binding/memory.ts";
import type { BindingRegister } from "../../src/binding/register.ts";
import { createBinding, type Mismatch } from "../../src/binding/binding.ts";
import { formatRevision, type Revision } from "../../src/binding/revision.ts";

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
  let named: { revision: Revision | undefined; rebindTo: Revision | undefined } = {
    revision: undefined,
    rebindTo: undefined,
  };
  let version = 1;
  const swap = (read: unknown, next: typeof named): boolean => {
    if (read !== version) return false;
    named = next;
    version += 1;
    return true;
  };
  return {
    revision: () => named.revision,
    keep: () => named,
    goBack(kept: typeof named) {
      named = kept;
      version += 1;
    },
    client: (access: Access = atOnce): BindingRegister => ({
      read: () => access("read register", () => ({ ...named, version })),
      take: (read, revision) => access("take revision", () => swap(read.version, { revision, rebindTo: undefined })),
      rebind: (read, to) => access("rebind", () => swap(read.version, { revision: read.revision, rebindTo: to })),
      claim: async () => {},
    }),
  };
}

/** A process that confirms the binding of a cluster; its wall clock stands where the test sets it. */
export function createModelBinding(
  cluster: ReturnType<typeof createModelCluster>,
  register: ReturnType<typeof createModelRegister>,
  { access = atOnce, wallClock = () => 0 }: { access?: Access; wallClock?: () => number } = {},
) {
  const explain = ({ own, named, behind }: Mismatch) =>
    `${behind} behind: ${formatRevision(own)}, not ${formatRevision(named)}`;
  return createBinding({ memory: cluster.client(access), register: register.client(access), explain, wallClock });
}
