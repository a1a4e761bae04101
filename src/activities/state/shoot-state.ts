import type { KubeObject } from "../../api/schema/meta.ts";
import type { KubeClient } from "../../kube/index.ts";
import { StepError } from "../step-error.ts";
import { createEntries, dataKeysOf, idOf, idOfItem, type StateEntry, type StateItem } from "./entry.ts";
import type { StateKeyring } from "./keyring.ts";
import type { ResourceReference } from "./handed-over.ts";
import { layOut, sizeOf } from "./layout.ts";
import { chooseDataKey, openRing, pruneRing } from "./ring.ts";
import { createSeal } from "./seal.ts";
import { parseKeptSnapshot, tryKeptSnapshot, type SnapshotRecord } from "./snapshot-record.ts";
import { createStateStore, type StateContent, type StateOwner } from "./store.ts";

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
   * Keeps these items, which a watch has seen, beside whatever is kept already; seals anew what an old data key has sealed.
   * Does nothing after the last look of the epoch. `problem` is what the watch has seen besides and cannot be kept.
   */
  keep(owner: StateOwner, items: readonly StateItem[], problem?: string): Promise<void>;
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
  /** The objects of these references that are kept, opened. */
  readReferenced(owner: StateReader, refs: readonly ResourceReference["resourceRef"][]): Promise<StateItem[]>;
  /** One item, opened; undefined when it is not kept. */
  readItem(owner: StateReader, item: Omit<StateItem, "content">): Promise<StateItem | undefined>;
  /** Keeps a snapshot's record, unless that of a later one is kept already. */
  recordSnapshot(owner: StateOwner, snapshot: SnapshotRecord): Promise<void>;
  /** The record that is kept; throws for one that our workers would not have written. */
  latestSnapshot(owner: StateReader): Promise<SnapshotRecord | undefined>;
  /** How large everything would be with these items; throws StateTooLarge when it would not fit. */
  measure(owner: StateOwner, items: readonly StateItem[]): Promise<StateSize>;
  remove(owner: StateOwner): Promise<void>;
}

/** How much a Shoot's state takes in the garden. */
export interface StateSize {
  readonly bytes: number;
  readonly objects: number;
}

/** The ShootStates of a garden, as the holder of these keys reads and writes them. */
export function createShootStates({
  gardenClient,
  keys,
}: {
  gardenClient: KubeClient;
  keys: StateKeyring;
}): ShootStates {
  const store = createStateStore(gardenClient);

  /** Entries of a ShootState for a reader: opened by the data keys that this holder can unwrap. */
  const readable = async ({ ring }: StateContent, { uid }: StateReader) =>
    createEntries(createSeal(await openRing(ring, uid, keys.own)), uid);

  const open = async (content: StateContent, owner: StateReader, wanted: readonly StateEntry[]) => {
    const { open: openEntry } = await readable(content, owner);
    try {
      return wanted.map(openEntry);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new StepError(`cannot use ShootState ${owner.namespace}/${owner.name}: ${why}`, [], { cause });
    }
  };

  const openOne = async (owner: StateReader, wanted: Omit<StateItem, "content">): Promise<StateItem | undefined> => {
    const content = await store.read(owner);
    const entry = content?.entries.find((one) => idOf(one) === idOfItem(wanted));
    return content && entry && (await open(content, owner, [entry]))[0];
  };

  /** The content with these items in it, all of it under the data key of the owner's epoch. */
  const merge = async (
    content: StateContent,
    owner: StateOwner,
    items: readonly StateItem[],
  ): Promise<StateContent> => {
    const opened = await openRing(content.ring, owner.uid, keys.own);
    const chosen = await chooseDataKey(content.ring, opened, owner, { own: keys.own, garden: await keys.garden() });
    const entries = createEntries(createSeal(opened, chosen.current), owner.uid).merge(content.entries, items);
    return { entries, ring: pruneRing(chosen.ring, dataKeysOf(entries)) };
  };

  return {
    keep: (owner, items, problem) =>
      store.change(owner, async (content) => ({ ...(await merge(content, owner, items)), problem }), {
        survey: "watched",
      }),

    async keepLast(owner, look) {
      let items: readonly StateItem[] = [];
      await store.change(owner, async (content) => merge(content, owner, (items = await look())), { survey: "last" });
      return items;
    },

    claim: (owner) => store.change(owner, (content) => content),
    async read(owner) {
      const content = await store.read(owner);
      return content && (await open(content, owner, content.entries));
    },

    async readSecrets(owner, names) {
      const wanted = new Set(names.map((name) => idOfItem({ section: "gardener", fields: { type: "secret", name } })));
      const content = await store.readOwn(owner);
      if (content === undefined) return [];
      return open(
        content,
        owner,
        content.entries.filter((entry) => wanted.has(idOf(entry))),
      );
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

    async readReferenced(owner, refs) {
      const fields = refs.map(({ apiVersion = "v1", kind, name }) => ({ apiVersion, kind, name }));
      const wanted = new Set(fields.map((one) => idOfItem({ section: "resources", fields: one })));
      const content = await store.read(owner);
      if (content === undefined) return [];
      return open(
        content,
        owner,
        content.entries.filter((entry) => wanted.has(idOf(entry))),
      );
    },

    readItem: openOne,
    recordSnapshot: (owner, snapshot) =>
      store.change(owner, async (content) => {
        const kept = content.entries.find((entry) => idOf(entry) === idOfItem(snapshotItem));
        const latest = kept && tryKeptSnapshot((await readable(content, owner)).tryOpen(kept)?.content);
        // Revisions grow within one etcd; under another leader it may have been set back.
        if (latest?.epoch === owner.epoch && latest.revision > snapshot.revision) return content;
        const fields = { ...snapshotItem.fields, labels: inTheClear(snapshot) };
        return merge(content, owner, [{ ...snapshotItem, fields, content: { ...snapshot, epoch: owner.epoch } }]);
      }),

    async latestSnapshot(owner) {
      const item = await openOne(owner, snapshotItem);
      if (item === undefined) return undefined;
      const { epoch: _, ...snapshot } = parseKeptSnapshot(item.content, owner);
      return snapshot;
    },

    async measure(owner, items) {
      const { entries } = await merge((await store.read(owner)) ?? { entries: [], ring: {} }, owner, items);
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

/** Where the latest snapshot's record is kept. */
const snapshotItem = { section: "gardener", fields: { name: "etcd-main", type: "etcd-snapshot" } } as const;
