import { StepError } from "../step-error.ts";
import { idOf, type StateEntry } from "./entry.ts";

/** How much fits: bytes of entries in one object, and how many objects. etcd takes 1.5 MiB a request, all in all. */
export const STATE_LIMITS = { partBytes: 900_000, parts: 8 } as const;

/** A ShootState that does not fit: names what takes the room. Such a Shoot cannot be migrated. */
export class StateTooLarge extends StepError {
  constructor(why: string) {
    super(why, ["ERR_CONFIGURATION_PROBLEM"]);
  }
}

/** How many bytes an entry takes in its object. */
export const sizeOf = (entry: StateEntry): number => Buffer.byteLength(JSON.stringify(entry.body)) + 1;

/**
 * Distributes entries over objects. Each stays where it was if it still fits there, so that a change rewrites few objects;
 * what Gardener itself needs (keys, the latest snapshot) comes first, into the first one.
 */
export function layOut(
  entries: readonly StateEntry[],
  before: readonly (readonly StateEntry[])[] = [],
): readonly (readonly StateEntry[])[] {
  const home = new Map(before.flatMap((part, index) => part.map((entry) => [idOf(entry), index] as const)));
  const parts: { entries: StateEntry[]; room: number }[] = [];
  const partAt = (index: number) => (parts[index] ??= { entries: [], room: STATE_LIMITS.partBytes });
  const put = (entry: StateEntry, size: number, index: number) => {
    const part = partAt(index);
    if (size > part.room) return false;
    part.entries.push(entry);
    part.room -= size;
    return true;
  };

  const sized: Sized[] = entries.map((entry) => ({ entry, size: sizeOf(entry) }));
  const giant = sized.find(({ size }) => size > STATE_LIMITS.partBytes);
  if (giant)
    throw new StateTooLarge(tooLarge(`${inWords(giant)} alone exceeds ${inKilobytes(STATE_LIMITS.partBytes)}`));
  partAt(0);
  const homeOf = (entry: StateEntry) => (entry.section === "gardener" ? 0 : home.get(idOf(entry)));
  const inOrder = sized.toSorted((one, other) => (homeOf(one.entry) ?? 0) - (homeOf(other.entry) ?? 0));
  const moving = inOrder.filter(({ entry, size }) => {
    const index = homeOf(entry);
    return index === undefined || !put(entry, size, Math.min(index, parts.length));
  });
  for (const { entry, size } of moving) {
    const index = parts.findIndex(({ room }) => room >= size);
    put(entry, size, index === -1 ? parts.length : index);
  }
  if (parts.length > STATE_LIMITS.parts) throw new StateTooLarge(tooLarge(excess(sized)));
  return parts.map((part) => part.entries);
}

interface Sized {
  readonly entry: StateEntry;
  readonly size: number;
}

function excess(entries: readonly Sized[]): string {
  const total = inKilobytes(entries.reduce((sum, { size }) => sum + size, 0));
  const largest = entries.toSorted((one, other) => other.size - one.size).slice(0, 3);
  const limit = `${STATE_LIMITS.parts} objects of ${inKilobytes(STATE_LIMITS.partBytes)}`;
  return `${total} do not fit into ${limit}; most is in ${largest.map(inWords).join(", ")}`;
}

const tooLarge = (why: string): string =>
  `the Shoot's state is too large to be kept in the garden: ${why}; make status.state there, or what it refers to, smaller`;

const inWords = ({ entry, size }: Sized): string =>
  `${idOf(entry).split("/").filter(Boolean).slice(1).join(" ")} (${inKilobytes(size)})`;

const inKilobytes = (bytes: number): string => `${Math.ceil(bytes / 1000)} kB`;
