import { isDeepStrictEqual } from "node:util";
import type { Seal, Sealed } from "./seal.ts";

/** The lists of a ShootState. */
export type StateSection = "gardener" | "extensions" | "resources";

/** One thing that must not be lost: what tells it from others, in the clear, and its content, which is sealed. */
export interface StateItem {
  readonly section: StateSection;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly content?: unknown;
}

/** An item as a ShootState holds it: with its content sealed. */
export interface StateEntry {
  readonly section: StateSection;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Turns items of one Shoot into entries and back; `uid` is the Shoot's, so that no other Shoot's entry passes for its own. */
export function createEntries(seal: Seal, uid: string) {
  const placeOf = (entry: StateEntry) => `${idOf(entry)} of Shoot ${uid}`;

  const close = ({ section, fields, content }: StateItem): StateEntry => {
    if (content === undefined) return { section, body: fields };
    const place = placeOf({ section, body: fields });
    return { section, body: { ...fields, [contentField[section]]: seal.seal(content, place) } };
  };

  const open = (entry: StateEntry): StateItem => {
    const { [contentField[entry.section]]: sealed, ...fields } = entry.body;
    const { section } = entry;
    return sealed === undefined ? { section, fields } : { section, fields, content: seal.open(sealed, placeOf(entry)) };
  };

  const tryOpen = (entry: StateEntry): StateItem | undefined => {
    try {
      return open(entry);
    } catch {
      return undefined;
    }
  };

  /** What the entry becomes: itself, if it says the same already. No content where there was one means that it stays. */
  const renew = (entry: StateEntry, item: StateItem | undefined): StateEntry => {
    const sealed = entry.body[contentField[entry.section]];
    const before = tryOpen(entry);
    if (before === undefined && item?.content === undefined) return entry; // its key is lost, and nothing replaces it
    const kept = before?.content === undefined ? {} : { content: before.content };
    const after = { ...kept, ...(item ?? before) } as StateItem;
    const current = sealed === undefined || seal.isCurrent(sealed);
    return current && isDeepStrictEqual(before, after) ? entry : close(after);
  };

  return {
    open,
    /** Undefined when it cannot be opened. */
    tryOpen,
    /**
     * The entries with these items in them, everything under the key that seals now. Nothing is ever taken out: that an
     * object is gone says nothing about whether its state is needed. The very same array when nothing has changed.
     */
    merge(entries: readonly StateEntry[], items: readonly StateItem[]): readonly StateEntry[] {
      const coming = new Map(items.map((item) => [idOfItem(item), item]));
      const kept = entries.map((entry) => {
        const item = coming.get(idOf(entry));
        coming.delete(idOf(entry));
        return renew(entry, item);
      });
      const changed = coming.size > 0 || kept.some((entry, index) => entry !== entries[index]);
      return changed ? [...kept, ...[...coming.values()].map(close)] : entries;
    },
  };
}

/** What tells entries apart: the section and the names in it. */
export function idOf({ section, body }: StateEntry): string {
  return [section, ...names[section].map((name) => (body[name] ?? "") as string)].join("/");
}

/** The same for an item. */
export const idOfItem = ({ section, fields }: Omit<StateItem, "content">): string => idOf({ section, body: fields });

/** Ids of the data keys under which entries are sealed. */
export function dataKeysOf(entries: readonly StateEntry[]): ReadonlySet<string> {
  const sealed = entries.map(({ section, body }) => body[contentField[section]] as Partial<Sealed> | undefined);
  return new Set(sealed.map((one) => one?.key).filter((key) => key !== undefined));
}

const names: Readonly<Record<StateSection, readonly string[]>> = {
  gardener: ["type", "name"],
  extensions: ["kind", "name", "purpose"],
  resources: ["apiVersion", "kind", "name"],
};

const contentField: Readonly<Record<StateSection, string>> = {
  gardener: "data",
  extensions: "state",
  resources: "data",
};
