import type { KubeObject } from "../../api/schema/meta.ts";
import type { KubeClient } from "../../kube/index.ts";
import { StepError } from "../failure.ts";
import { createEntries, idOf, idOfItem, type StateEntry, type StateItem } from "./entry.ts";
import type { StateKey } from "./keys.ts";
import { layOut, sizeOf } from "./layout.ts";
import { createSeal } from "./seal.ts";
import { createStateStore, type StateChange, type StateOwner } from "./store.ts";
import type { ResourceReference } from "./source.ts";

/** The latest snapshot of a Shoot's etcd that was found good. */
export interface SnapshotRecord {
  readonly name: string;
  readonly revision: number;
  readonly hash: number;
  /** Bytes. */
  readonly size: number;
  /** RFC 3339. */
  readonly takenAt: string;
  readonly bucket: string;
}

/** What an extension object left when it last acted. */
export interface ExtensionState {
  readonly state?: unknown;
  readonly resources?: readonly ResourceReference[];
}

/** Whose state: enough to read it. */
export type StateReader = Omit<StateOwner, "epoch">;

/**
 * What the garden keeps of Shoots, in the clear on this side and sealed on the other. All writes go by epoch: the latest
 * one that has written is the lowest that may.
 */
export interface ShootStates {
  /**
   * Keeps these items, which a watch has seen, beside whatever is kept already; seals anew what an old key has sealed.
   * Does nothing after the last look of the epoch.
   */
  keep(owner: StateOwner, items: readonly StateItem[]): Promise<void>;
  /** Keeps what a last look in this epoch finds, and returns it. Looks again after another write in between. */
  keepLast(owner: StateOwner, look: () => Promise<readonly StateItem[]>): Promise<readonly StateItem[]>;
  /** From now on, an earlier epoch writes no more. */
  claim(owner: StateOwner): Promise<void>;
  /** Everything, opened; undefined when nothing is kept. Throws when something cannot be opened. */
  read(owner: StateReader): Promise<StateItem[] | undefined>;
  /** Those of these Secrets that are kept of the owner's Shoot; nothing else is opened. Throws when one cannot be. */
  readSecrets(owner: StateOwner, names: readonly string[]): Promise<StateItem[]>;
  /** What is kept of an extension object. */
  readExtension(owner: StateReader, object: KubeObject): Promise<ExtensionState | undefined>;
  /** Keeps a snapshot's record, unless that of a later one is kept already. */
  recordSnapshot(owner: StateOwner, snapshot: SnapshotRecord): Promise<void>;
  latestSnapshot(owner: StateReader): Promise<SnapshotRecord | undefined>;
  /** How large everything would be with these items; throws StateTooLarge when it would not fit. */
  measure(owner: StateReader, items: readonly StateItem[]): Promise<StateSize>;
  remove(owner: StateOwner): Promise<void>;
}

/** How much a Shoot's state takes in the garden. */
export interface StateSize {
  readonly bytes: number;
  readonly objects: number;
}

/** The ShootStates of a garden, sealed with the first of these keys. */
export function createShootStates({
  gardenClient,
  keys,
}: {
  gardenClient: KubeClient;
  keys: readonly StateKey[];
}): ShootStates {
  const seal = createSeal(keys);
  const store = createStateStore(gardenClient);

  const openOne = async (owner: StateReader, wanted: Omit<StateItem, "content">): Promise<StateItem | undefined> => {
    const entry = (await store.read(owner))?.find((one) => idOf(one) === idOfItem(wanted));
    return entry && open(owner, entry);
  };

  const open = (owner: StateReader, entry: StateEntry): StateItem => {
    try {
      return createEntries(seal, owner.uid).open(entry);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new StepError(`cannot use ShootState ${owner.namespace}/${owner.name}: ${why}`, [], { cause });
    }
  };

  return {
    keep: (owner, items) =>
      store.change(owner, (entries) => createEntries(seal, owner.uid).merge(entries, items), { survey: "watched" }),

    async keepLast(owner, look) {
      let items: readonly StateItem[] = [];
      const change: StateChange = async (entries) =>
        createEntries(seal, owner.uid).merge(entries, (items = await look()));
      await store.change(owner, change, { survey: "last" });
      return items;
    },

    claim: (owner) => store.change(owner, (entries) => entries),
    read: async (owner) => (await store.read(owner))?.map((entry) => open(owner, entry)),

    async readSecrets(owner, names) {
      const wanted = new Set(names.map((name) => idOfItem({ section: "gardener", fields: { type: "secret", name } })));
      const entries = (await store.readOwn(owner)) ?? [];
      return entries.filter((entry) => wanted.has(idOf(entry))).map((entry) => open(owner, entry));
    },

    async readExtension(owner, object) {
      const { purpose } = (object["spec"] ?? {}) as { purpose?: string };
      const fields = { kind: object.kind, name: object.metadata.name, ...(purpose === undefined ? {} : { purpose }) };
      const item = await openOne(owner, { section: "extensions", fields });
      if (item === undefined) return undefined;
      const { resources } = item.fields as { resources?: readonly ResourceReference[] };
      return {
        ...(item.content === undefined ? {} : { state: item.content }),
        ...(resources === undefined ? {} : { resources }),
      };
    },

    recordSnapshot: (owner, snapshot) =>
      store.change(owner, (entries) => {
        const { merge, tryOpen } = createEntries(seal, owner.uid);
        const kept = entries.find((entry) => idOf(entry) === idOfItem(snapshotItem));
        const latest = kept && (tryOpen(kept)?.content as KeptSnapshot | undefined);
        // Revisions grow within one etcd; under another leader it may have been set back.
        if (latest?.epoch === owner.epoch && latest.revision > snapshot.revision) return entries;
        const fields = { ...snapshotItem.fields, labels: inTheClear(snapshot) };
        return merge(entries, [{ ...snapshotItem, fields, content: { ...snapshot, epoch: owner.epoch } }]);
      }),

    async latestSnapshot(owner) {
      const item = await openOne(owner, snapshotItem);
      if (item === undefined) return undefined;
      const { epoch: _, ...snapshot } = item.content as KeptSnapshot;
      return snapshot;
    },

    async measure(owner, items) {
      const entries = createEntries(seal, owner.uid).merge((await store.read(owner)) ?? [], items);
      return { bytes: entries.reduce((sum, entry) => sum + sizeOf(entry), 0), objects: layOut(entries).length };
    },

    remove: (owner) => store.remove(owner),
  };
}

/** What a ShootState says of the latest snapshot without any key: bytes and RFC 3339. Undefined when it has none. */
export function describeSnapshot(entries: readonly StateEntry[]): SnapshotSummary | undefined {
  const entry = entries.find((one) => idOf(one) === idOfItem(snapshotItem));
  if (entry === undefined) return undefined;
  const { size, takenAt } = (entry.body["labels"] ?? {}) as Partial<ReturnType<typeof inTheClear>>;
  return { ...(size !== undefined && { size: Number(size) }), ...(takenAt !== undefined && { takenAt }) };
}

type SnapshotSummary = Partial<Pick<SnapshotRecord, "size" | "takenAt">>;

/** Size and age are no secrets, and a plan of a migration says them. Labels are texts. */
const inTheClear = ({ size, takenAt }: SnapshotRecord) => ({ size: String(size), takenAt });

/** The epoch is the one under which it was recorded. */
type KeptSnapshot = SnapshotRecord & { readonly epoch: number };

/** Where the latest snapshot's record is kept. */
const snapshotItem = { section: "gardener", fields: { name: "etcd-main", type: "etcd-snapshot" } } as const;
