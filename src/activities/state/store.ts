import { randomBytes } from "node:crypto";
import { STATE_PART_LABEL } from "../../api/labels.ts";
import {
  EPOCH_ANNOTATION,
  SHOOT_UID_ANNOTATION,
  STATE_FINAL_ANNOTATION,
  STATE_KEY_ANNOTATION,
  STATE_PARTS_ANNOTATION,
  STATE_PROBLEM_ANNOTATION,
  TIMESTAMP_ANNOTATION,
} from "../../api/annotations.ts";
import type { ShootState } from "../../api/index.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { isAlreadyExists, isConflict, isNotFound, type KubeClient } from "../../kube/index.ts";
import { configurationProblem, StepError } from "../failure.ts";
import { keysOf, type StateEntry } from "./entry.ts";
import { layOut, StateTooLarge } from "./layout.ts";
import {
  epochOf,
  listParts,
  readHead,
  readParts,
  removePart,
  renderPart,
  shootUidOf,
  type StateParts,
} from "./parts.ts";
import { Superseded } from "../superseded.ts";

/** Whose state it is: a Shoot, and the epoch under which is written. */
export type StateOwner = Pick<ShootRun, "namespace" | "name" | "uid" | "epoch">;

/**
 * Changes entries; the very same array means that there is nothing to change. Called again after another write in
 * between, so that what it looks up is later than what it replaces.
 */
export type StateChange = (entries: readonly StateEntry[]) => readonly StateEntry[] | Promise<readonly StateEntry[]>;

/** How a change that brings everything there is to be kept knows it: by a watch, which may be behind, or by a last look. */
export type Survey = "watched" | "last";

/** The ShootStates of a garden: each is one whole, in however many objects. */
export interface StateStore {
  /** Undefined when there is none. Throws when what is there belongs to another Shoot of that name. */
  read(owner: Omit<StateOwner, "epoch">): Promise<readonly StateEntry[] | undefined>;
  /** The same for one of the Shoot's epochs: undefined, too, where it is another Shoot's, {@link Superseded} once a later one has written. */
  readOwn(owner: StateOwner): Promise<readonly StateEntry[] | undefined>;
  /**
   * Replaces the entries by what is made of them, all at once or not at all, and makes the owner's epoch the latest one.
   * Throws {@link Superseded} once a later epoch has written, and {@link StateTooLarge}, which the ShootState then says, too,
   * until a survey fits. After the last one of an epoch, those by watch change nothing in that epoch.
   */
  change(owner: StateOwner, change: StateChange, o?: { readonly survey?: Survey }): Promise<void>;
  /** Removes the Shoot's state for good; not another Shoot's, and not that of a later epoch, which throws {@link Superseded}. */
  remove(owner: StateOwner): Promise<void>;
}

/**
 * Every version is one compare-and-swap of the object with the Shoot's name. What does not fit into it goes into further
 * objects first, under names that are new; only that write makes them count, and what it leaves unnamed is
 * removed after it. So a writer that dies or is late at any point changes nothing, or everything.
 */
export function createStateStore(gardenClient: KubeClient): StateStore {
  const read = async (owner: Omit<StateOwner, "epoch">) => {
    const stored = await readParts(gardenClient, owner);
    const uid = stored && shootUidOf(stored.head);
    if (uid === undefined || uid === owner.uid) return stored;
    throw configurationProblem(
      `ShootState ${owner.namespace}/${owner.name} belongs to another Shoot of that name, with uid ${uid}: take its finalizer away and delete it if its content is not needed any more`,
    );
  };

  const writeOther = async (owner: StateOwner, entries: readonly StateEntry[]): Promise<string> => {
    const name = `${owner.name}--${randomBytes(4).toString("hex")}`;
    const labels = { [STATE_PART_LABEL]: owner.name };
    await gardenClient.create(renderPart({ ...owner, name }, entries, { labels, annotations: marks(owner) }));
    return name;
  };

  /** False after another write in between. */
  const commit = async (owner: StateOwner, stored: StateParts | undefined, next: Content): Promise<boolean> => {
    const [first = [], ...others] = next.parts;
    const names: string[] = [];
    for (const part of others) names.push(sameIn(stored, part) ?? (await writeOther(owner, part)));
    const present = isSplit(next, stored) ? await listParts(gardenClient, owner) : [];
    const annotations = annotate(owner, stored, { names, ...next });
    const head = renderPart(owner, first, { annotations }, stored?.head);
    const written = await unlessOvertaken(
      stored === undefined ? gardenClient.create(head) : gardenClient.replace(head),
    );
    if (!written) return false;
    // All of these were made before this write. A writer that has not named its own yet fails: its head is older.
    const loose = present.filter(({ metadata }) => !names.includes(metadata.name));
    for (const part of loose) await unlessOvertaken(removePart(gardenClient, part)); // others may sweep, too
    return true;
  };

  /** Whether a writer died before it had tidied up. Only a write of one's own makes it safe to do so. */
  const isLittered = async (owner: StateOwner, stored: StateParts | undefined): Promise<boolean> => {
    if (stored === undefined || stored.parts.length === 1) return false;
    return (await listParts(gardenClient, owner)).length > stored.parts.length - 1;
  };

  return {
    read: async (owner) => {
      const stored = await read(owner);
      return stored && entriesOf(stored);
    },

    async readOwn(owner) {
      const stored = await readParts(gardenClient, owner);
      if (stored === undefined || (shootUidOf(stored.head) ?? owner.uid) !== owner.uid) return undefined;
      requireCurrent(owner, stored.head, "use");
      return entriesOf(stored);
    },

    async change(owner, change, { survey } = {}) {
      for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
        const stored = await read(owner);
        if (stored !== undefined) requireCurrent(owner, stored.head);
        if (survey === "watched" && isFinal(stored, owner)) return;
        const before = stored === undefined ? [] : entriesOf(stored);
        const after = await change(before);
        const next = contentOf(after, stored, { owner, survey });
        const settled = after === before && says(stored, owner, next) && !(await isLittered(owner, stored));
        if (!settled && !(await commit(owner, stored, next))) continue;
        if (next.failure) throw next.failure;
        return;
      }
      throw new StepError(`cannot write ShootState ${owner.namespace}/${owner.name}: others keep changing it`);
    },

    async remove(owner) {
      const head = await readHead(gardenClient, owner); // a damaged state goes, too
      if (head !== undefined && shootUidOf(head) !== owner.uid) return;
      if (head !== undefined) requireCurrent(owner, head);
      if (head !== undefined) await removePart(gardenClient, head);
      const parts = await listParts(gardenClient, owner);
      for (const part of parts) if (shootUidOf(part) === owner.uid) await removePart(gardenClient, part);
    },
  };
}

const MOST_ATTEMPTS = 8;

/** What is to be in each object, and what is said of it; after a failure, it is what was there before. */
interface Content {
  readonly parts: readonly (readonly StateEntry[])[];
  readonly problem: string | undefined;
  /** What the owner's epoch had to say is all in it. */
  readonly final: boolean;
  readonly failure?: StateTooLarge;
}

const entriesOf = ({ parts }: StateParts): readonly StateEntry[] => parts.flatMap(({ entries }) => entries);

function contentOf(
  entries: readonly StateEntry[],
  stored: StateParts | undefined,
  { owner, survey }: { readonly owner: StateOwner; readonly survey: Survey | undefined },
): Content {
  const final = isFinal(stored, owner);
  const before = stored?.parts.map((part) => part.entries) ?? [];
  try {
    const parts = layOut(entries, before);
    return { parts, problem: survey ? undefined : problemOf(stored), final: final || survey === "last" };
  } catch (error) {
    if (error instanceof StateTooLarge) return { parts: before, problem: error.message, final, failure: error };
    throw error;
  }
}

/** Whether the ShootState says already what would be written besides the entries. */
function says(stored: StateParts | undefined, owner: StateOwner, { problem, final }: Content): boolean {
  if (stored === undefined) return problem === undefined && !final; // of nothing, nothing has to be kept
  return epochOf(stored.head) === owner.epoch && problemOf(stored) === problem && isFinal(stored, owner) === final;
}

const isFinal = (stored: StateParts | undefined, { epoch }: StateOwner): boolean =>
  stored?.head.metadata.annotations?.[STATE_FINAL_ANNOTATION] === String(epoch);

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

/** The name of the object that holds exactly these entries already. */
const sameIn = (stored: StateParts | undefined, entries: readonly StateEntry[]): string | undefined =>
  stored?.parts
    .slice(1)
    .find((part) => part.entries.length === entries.length && entries.every((entry) => part.entries.includes(entry)))
    ?.name;

const marks = ({ uid, epoch }: StateOwner) => ({ [SHOOT_UID_ANNOTATION]: uid, [EPOCH_ANNOTATION]: String(epoch) });

function annotate(
  owner: StateOwner,
  stored: StateParts | undefined,
  { names, parts, problem, final }: Content & { readonly names: readonly string[] },
): Record<string, string> {
  const {
    [STATE_PARTS_ANNOTATION]: _names,
    [STATE_PROBLEM_ANNOTATION]: _problem,
    [STATE_FINAL_ANNOTATION]: _final,
    ...others
  } = stored?.head.metadata.annotations ?? {};
  return {
    ...others,
    ...marks(owner),
    [STATE_KEY_ANNOTATION]: keysOf(parts.flat()).join(","),
    [TIMESTAMP_ANNOTATION]: new Date().toISOString(),
    ...(names.length === 0 ? {} : { [STATE_PARTS_ANNOTATION]: JSON.stringify(names) }),
    ...(problem === undefined ? {} : { [STATE_PROBLEM_ANNOTATION]: problem }),
    ...(final && { [STATE_FINAL_ANNOTATION]: String(owner.epoch) }),
  };
}

function requireCurrent({ namespace, name, epoch }: StateOwner, head: ShootState, verb = "write"): void {
  if (epochOf(head) <= epoch) return;
  throw new Superseded(
    `cannot ${verb} ShootState ${namespace}/${name}: it is fenced: epoch ${epochOf(head)} leads, and this is of epoch ${epoch}`,
  );
}
