import { STATE_PART_LABEL } from "../../api/labels.ts";
import { statePartNames } from "../../api/names.ts";
import {
  DATA_KEYS_ANNOTATION,
  EPOCH_ANNOTATION,
  SHOOT_UID_ANNOTATION,
  STATE_FINAL_ANNOTATION,
  STATE_KEY_ANNOTATION,
  STATE_PARTS_ANNOTATION,
  STATE_PROBLEM_ANNOTATION,
  TIMESTAMP_ANNOTATION,
} from "../../api/annotations.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { isAlreadyExists, isConflict, isNotFound, type KubeClient } from "../../kube/index.ts";
import { StepError } from "../step-error.ts";
import type { StateEntry } from "./entry.ts";
import { layOut, StateTooLarge } from "./layout.ts";
import { isSameRing, type Ring } from "./ring.ts";
import { requireCurrent, requireOwn, ringAnnotations, ringOf } from "./ring-store.ts";
import {
  epochOf,
  partsOf,
  readAllParts,
  readHead,
  readParts,
  removePart,
  renderPart,
  shootUidOf,
  type StateParts,
} from "./parts.ts";

/** Whose state it is: a Shoot, and the epoch under which is written. */
export type StateOwner = Pick<ShootRun, "namespace" | "name" | "uid" | "epoch">;

/** What a ShootState holds: entries, sealed, and the data keys that seal them, wrapped. */
export interface StateContent {
  readonly entries: readonly StateEntry[];
  readonly ring: Ring;
  /** What a survey has found and cannot keep; the ShootState reports it until a survey finds none. */
  readonly problem?: string | undefined;
}

/**
 * Changes what a ShootState holds; the very same entries and an equal ring mean that there is nothing to change. Called
 * again after another write in between, so that what it looks up is later than what it replaces.
 */
export type StateChange = (content: StateContent) => StateContent | Promise<StateContent>;

/** How a change that brings everything there is to be kept knows it: by a watch, which may be behind, or by a last look. */
export type Survey = "watched" | "last";

/** The ShootStates of a garden: each is one whole, in however many objects. */
export interface StateStore {
  /** Undefined when there is none. Throws when what is there belongs to an earlier Shoot of that name. */
  read(owner: Omit<StateOwner, "epoch">): Promise<StateContent | undefined>;
  /** The same for one of the Shoot's epochs: undefined, too, where it is another Shoot's, {@link Superseded} once a later one has written. */
  readOwn(owner: StateOwner): Promise<StateContent | undefined>;
  /**
   * Replaces the content by what is made of it, all at once or not at all, and makes the owner's epoch the latest one.
   * Throws {@link Superseded} once a later epoch has written, and {@link StateTooLarge}, which the ShootState then says, too,
   * until a survey fits. After the last one of an epoch, those by watch change nothing in that epoch; nor do they before
   * another change has made it the latest.
   */
  change(owner: StateOwner, change: StateChange, o?: { readonly survey?: Survey }): Promise<void>;
  /** Removes the Shoot's state for good; not another Shoot's, and not that of a later epoch, which throws {@link Superseded}. */
  remove(owner: StateOwner): Promise<void>;
}

/**
 * Every version is one compare-and-swap of the object with the Shoot's name. What does not fit into it goes into further
 * objects first, under names that are free; only that write makes them count, and what it leaves unnamed is
 * removed after it. So a writer that dies or is late at any point changes nothing, or everything.
 */
export function createStateStore(gardenClient: KubeClient): StateStore {
  const read = async (owner: Omit<StateOwner, "epoch">) => {
    const stored = await readParts(gardenClient, owner);
    if (stored !== undefined) requireOwn(owner, stored.head);
    return stored;
  };

  /** Writes a further object under a name that is free; undefined when none is. */
  const writeOther = async (owner: StateOwner, entries: readonly StateEntry[]): Promise<Part | undefined> => {
    const labels = { [STATE_PART_LABEL]: owner.name };
    for (const name of statePartNames(owner.name)) {
      const part = renderPart({ ...owner, name }, entries, { labels, annotations: marks(owner) });
      const made = await unlessTaken(gardenClient.create(part));
      if (made !== undefined) return [name, made.metadata.uid ?? ""];
    }
    return undefined;
  };

  /** False after another write in between. */
  const commit = async (owner: StateOwner, stored: StateParts | undefined, next: Content): Promise<boolean> => {
    const [first = [], ...others] = next.parts;
    const named: Part[] = [];
    for (const entries of others) {
      const part = sameIn(stored, entries) ?? (await writeOther(owner, entries));
      if (part === undefined) return await makeRoom(owner, stored);
      named.push(part);
    }
    const present = isSplit(next, stored) ? await readAllParts(gardenClient, owner) : [];
    const annotations = annotate(owner, stored, { named, ...next });
    const head = renderPart(owner, first, { annotations }, stored?.head);
    const written = await unlessOvertaken(
      stored === undefined ? gardenClient.create(head) : gardenClient.replace(head),
    );
    if (!written) return false;
    // All of these were made before this write. A writer that has not named its own yet fails: its head is older.
    const loose = present.filter(({ metadata }) => !named.some(([, uid]) => uid === metadata.uid));
    for (const part of loose) await unlessOvertaken(removePart(gardenClient, part)); // others may sweep, too
    return true;
  };

  /** Writes what is there once more, which makes it safe to remove what writers that died have left. Always false. */
  const makeRoom = async (owner: StateOwner, stored: StateParts | undefined): Promise<false> => {
    const before = stored?.head ?? renderPart(owner, [], { annotations: marks(owner) });
    const annotations = { ...before.metadata.annotations, [TIMESTAMP_ANNOTATION]: new Date().toISOString() };
    const head = { ...before, metadata: { ...before.metadata, annotations } };
    const present = await readAllParts(gardenClient, owner);
    const written = await unlessOvertaken(
      stored === undefined ? gardenClient.create(head) : gardenClient.replace(head),
    );
    const named = new Set(Object.values(partsOf(head)));
    const loose = written ? present.filter(({ metadata: { uid = "" } }) => !named.has(uid)) : [];
    for (const part of loose) await unlessOvertaken(removePart(gardenClient, part));
    return false;
  };

  /** Whether a writer died before it had tidied up. Only a write of one's own makes it safe to do so. */
  const isLittered = async (owner: StateOwner, stored: StateParts | undefined): Promise<boolean> => {
    if (stored === undefined || stored.parts.length === 1) return false;
    return (await readAllParts(gardenClient, owner)).length > stored.parts.length - 1;
  };

  return {
    read: async (owner) => {
      const stored = await read(owner);
      return stored && stateOf(stored);
    },

    async readOwn(owner) {
      const stored = await readParts(gardenClient, owner);
      if (stored === undefined || (shootUidOf(stored.head) ?? owner.uid) !== owner.uid) return undefined;
      requireCurrent(owner, stored.head, "use");
      return stateOf(stored);
    },

    async change(owner, change, { survey } = {}) {
      for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
        const stored = await read(owner);
        requireCurrent(owner, stored?.head);
        if (survey === "watched" && !takesWatched(stored, owner)) return;
        const before = stateOf(stored);
        const after = await change(before);
        const next = contentOf(after, stored, { owner, survey });
        const same = after.entries === before.entries && isSameRing(after.ring, before.ring);
        const settled = same && says(stored, owner, next) && !(await isLittered(owner, stored));
        if (!settled && !(await commit(owner, stored, next))) continue;
        if (next.failure) throw next.failure;
        return;
      }
      throw new StepError(`cannot write ShootState ${owner.namespace}/${owner.name}: others keep changing it`);
    },

    async remove(owner) {
      const head = await readHead(gardenClient, owner); // a damaged state goes, too
      if (head !== undefined && shootUidOf(head) !== owner.uid) return;
      requireCurrent(owner, head);
      if (head !== undefined) await removePart(gardenClient, head);
      const parts = await readAllParts(gardenClient, owner);
      for (const part of parts) if (shootUidOf(part) === owner.uid) await removePart(gardenClient, part);
    },
  };
}

const MOST_ATTEMPTS = 8;

/** What is to be in each object, and what is said of it; after a failure, it is what was there before. */
interface Content {
  readonly parts: readonly (readonly StateEntry[])[];
  readonly ring: Ring;
  readonly problem: string | undefined;
  /** What the owner's epoch had to say is all in it. */
  readonly final: boolean;
  readonly failure?: StateTooLarge;
}

function stateOf(stored: StateParts | undefined): StateContent {
  if (stored === undefined) return { entries: [], ring: {} };
  return { entries: stored.parts.flatMap(({ entries }) => entries), ring: ringOf(stored.head) };
}

function contentOf(
  { entries, ring, problem }: StateContent,
  stored: StateParts | undefined,
  { owner, survey }: { readonly owner: StateOwner; readonly survey: Survey | undefined },
): Content {
  const final = isFinal(stored, owner);
  const before = stored?.parts.map((part) => part.entries) ?? [];
  try {
    const parts = layOut(entries, before);
    return { parts, ring, problem: survey ? problem : problemOf(stored), final: final || survey === "last" };
  } catch (error) {
    if (!(error instanceof StateTooLarge)) throw error;
    return { parts: before, ring: stateOf(stored).ring, problem: error.message, final, failure: error };
  }
}

/** Whether the ShootState says already what would be written besides the entries. */
function says(stored: StateParts | undefined, owner: StateOwner, { problem, final }: Content): boolean {
  if (stored === undefined) return problem === undefined && !final; // of nothing, nothing has to be kept
  return epochOf(stored.head) === owner.epoch && problemOf(stored) === problem && isFinal(stored, owner) === final;
}

/** Until the flow of a new epoch has claimed the state, what the one before it has to say still comes first. */
const isUnclaimed = (stored: StateParts | undefined, { epoch }: StateOwner): boolean =>
  stored !== undefined && epochOf(stored.head) < epoch;

/** Whether what a watch has seen counts: the epoch has begun to write, and has not said its last. */
const takesWatched = (stored: StateParts | undefined, owner: StateOwner): boolean =>
  !isFinal(stored, owner) && !isUnclaimed(stored, owner);

/** An epoch says itself that it has said its last: what stands there of a later one is void. */
const isFinal = (stored: StateParts | undefined, { epoch }: StateOwner): boolean =>
  stored !== undefined &&
  epochOf(stored.head) === epoch &&
  stored.head.metadata.annotations?.[STATE_FINAL_ANNOTATION] === String(epoch);

const problemOf = (stored: StateParts | undefined): string | undefined =>
  stored?.head.metadata.annotations?.[STATE_PROBLEM_ANNOTATION];

const isSplit = ({ parts }: Content, stored: StateParts | undefined): boolean =>
  parts.length > 1 || (stored !== undefined && stored.parts.length > 1);

const unlessOvertaken = (write: Promise<unknown>): Promise<boolean> =>
  write.then(
    () => true,
    (error: unknown) => {
      if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) return false;
      throw error;
    },
  );

/** Name and uid of a further object. */
type Part = readonly [name: string, uid: string];

/** The object that holds exactly these entries already. */
function sameIn(stored: StateParts | undefined, entries: readonly StateEntry[]): Part | undefined {
  const same = stored?.parts
    .slice(1)
    .find((part) => part.entries.length === entries.length && entries.every((entry) => part.entries.includes(entry)));
  return same && [same.name, same.uid];
}

const unlessTaken = <T>(write: Promise<T>): Promise<T | undefined> =>
  write.catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
    return undefined;
  });

const marks = ({ uid, epoch }: StateOwner) => ({ [SHOOT_UID_ANNOTATION]: uid, [EPOCH_ANNOTATION]: String(epoch) });

function annotate(
  owner: StateOwner,
  stored: StateParts | undefined,
  { named, ring, problem, final }: Content & { readonly named: readonly Part[] },
): Record<string, string> {
  const {
    [DATA_KEYS_ANNOTATION]: _ring,
    [STATE_KEY_ANNOTATION]: _holders,
    [STATE_PARTS_ANNOTATION]: _parts,
    [STATE_PROBLEM_ANNOTATION]: _problem,
    [STATE_FINAL_ANNOTATION]: _final,
    ...others
  } = stored?.head.metadata.annotations ?? {};
  return {
    ...others,
    ...marks(owner),
    ...ringAnnotations(ring),
    [TIMESTAMP_ANNOTATION]: new Date().toISOString(),
    ...(named.length === 0 ? {} : { [STATE_PARTS_ANNOTATION]: JSON.stringify(Object.fromEntries(named)) }),
    ...(problem === undefined ? {} : { [STATE_PROBLEM_ANNOTATION]: problem }),
    ...(final && { [STATE_FINAL_ANNOTATION]: String(owner.epoch) }),
  };
}
