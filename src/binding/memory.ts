import { z } from "zod";
import { parseJson } from "../parsing.ts";
import { ConfigMap, refTo, unlessForbidden, type KubeClient } from "../kube/index.ts";
import { parseRevision, type Revision } from "./revision.ts";
import { createRecord, type RecordVersion } from "./record.ts";

/** What a cluster remembers of its binding, in one role: as a garden, or as the Seed of a name. Revisions are texts. */
const memory = z.object({
  /** The revision that the register outside of the cluster named last. */
  revision: z.string().optional(),
  /** The revision that a process is about to write there. It is remembered first, so that a process may be killed in between. */
  next: z.string().optional(),
  /** When `revision` was taken, and when the register was last seen to name it. */
  advancedAt: z.iso.datetime().optional(),
  confirmedAt: z.iso.datetime().optional(),
  /** Why this cluster may not act: the register names a revision that came after this cluster's. */
  refused: z.string().optional(),
});

/** The schema's type: see there. */
export type BindingMemory = z.infer<typeof memory>;

/** The revision by which operators name this cluster: its last one, else the one that it is about to take; undefined without any. */
export const revisionOf = ({ revision, next }: BindingMemory): Revision | undefined =>
  parseRevision(revision) ?? parseRevision(next);

/** The ConfigMap in every garden and seed. Each role has a key: {@link GARDEN_ROLE}, or `seed.<name>`. */
export const BINDING_CONFIG_MAP = { namespace: "kube-system", name: "perennial-binding" } as const;

/** The role of a cluster that is a garden. */
export const GARDEN_ROLE = "garden";

/** The memory of one role, as of one version. */
export interface MemoryVersion {
  readonly memory: BindingMemory;
  readonly record: RecordVersion;
}

/** Reads and changes the memory of one role in this cluster. */
export function createMemory(client: KubeClient, role: string) {
  const record = createRecord(client, BINDING_CONFIG_MAP);
  return {
    async read(): Promise<MemoryVersion> {
      const version = await record.read();
      return { memory: parseMemory(role, version.data[role]) ?? {}, record: version };
    },
    /** Replaces the memory; false if another process has changed it. */
    write: (read: MemoryVersion, changed: BindingMemory): Promise<boolean> =>
      record.swap(read.record, { [role]: JSON.stringify(changed) }),
  };
}

/** The memory of one role: see {@link createMemory}. */
export type Memory = ReturnType<typeof createMemory>;

/** The memories of this cluster's roles, or of one of them; none if it has no binding, or if this identity may not read it. */
export async function readMemories(client: KubeClient, only?: string): Promise<BindingMemory[]> {
  const object = await client.read(refTo(ConfigMap, BINDING_CONFIG_MAP)).catch(unlessForbidden);
  return Object.entries(object?.data ?? {}).flatMap(([role, text]) =>
    only === undefined || role === only ? (parseMemory(role, text) ?? []) : [],
  );
}

function parseMemory(role: string, text: string | undefined): BindingMemory | undefined {
  if (text === undefined) return undefined;
  const { namespace, name } = BINDING_CONFIG_MAP;
  const what = `data[${role}] of ConfigMap ${namespace}/${name}`;
  const parsed = memory.safeParse(parseJson(text, what));
  if (parsed.success) return parsed.data;
  throw new Error(`cannot read ${what}: ${z.prettifyError(parsed.error)}`);
}
