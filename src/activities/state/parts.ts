import { SHOOT_STATE_FINALIZER, statePartNames } from "../../api/names.ts";
import {
  CONFIRM_DELETION_ANNOTATION,
  SHOOT_UID_ANNOTATION,
  STATE_PARTS_ANNOTATION,
  writtenEpoch,
} from "../../api/annotations.ts";
import { ShootState } from "../../api/index.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { parseJson } from "../../parsing.ts";
import { isNotFound, refTo, typeMeta, type KubeClient } from "../../kube/index.ts";
import { StepError } from "../step-error.ts";
import type { StateEntry, StateSection } from "./entry.ts";

/** The objects of one ShootState, as they were at one moment: the first has the Shoot's name and names the others. */
export interface StateParts {
  readonly head: ShootState;
  readonly parts: readonly StatePart[];
}

/** One object and the entries in it. */
export interface StatePart {
  readonly name: string;
  readonly uid: string;
  readonly entries: readonly StateEntry[];
}

/** Names a ShootState, or a Shoot. */
export type StateName = Pick<ShootRun, "namespace" | "name">;

/** Reads a ShootState as a whole; undefined when there is none. */
export async function readParts(gardenClient: KubeClient, state: StateName): Promise<StateParts | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const head = await readHead(gardenClient, state);
    if (head === undefined) return undefined;
    const named = Object.entries(partsOf(head));
    const read = await Promise.all(named.map(([name]) => readOne(gardenClient, state, name)));
    const others = read.filter((object) => object !== undefined);
    const missing = named.find(([, uid]) => !others.some(({ metadata }) => metadata.uid === uid))?.[0];
    if (missing === undefined) return { head, parts: [head, ...others].map(toPart) };
    // A writer has put another one in its place meanwhile, maybe under its name, and named that in the head before.
    if (attempt === MOST_ATTEMPTS)
      throw new StepError(`cannot read ShootState ${state.namespace}/${state.name}: ${missing}, a part of it, is gone`);
  }
}

/** The first object, which has the Shoot's name. */
export const readHead = (gardenClient: KubeClient, state: StateName): Promise<ShootState | undefined> =>
  readOne(gardenClient, state, state.name);

/** The object that holds these entries. `before` is what is known of it already. */
export function renderPart(
  { namespace, name }: StateName,
  entries: readonly StateEntry[],
  metadata: Partial<ShootState["metadata"]>,
  before?: ShootState,
): ShootState {
  const section = (wanted: StateSection) => entries.filter((one) => one.section === wanted).map(({ body }) => body);
  const spec = Object.fromEntries(
    sections.map((one) => [one, section(one)] as const).filter(([, { length }]) => length > 0),
  );
  const finalizers = [...new Set([...(before?.metadata.finalizers ?? []), SHOOT_STATE_FINALIZER])];
  return {
    ...before,
    ...typeMeta(ShootState),
    metadata: { ...before?.metadata, ...metadata, namespace, name, finalizers },
    spec,
  };
}

/** All objects that a ShootState goes on in, named by it or not. By their names: a seed may not list states. */
export async function readAllParts(gardenClient: KubeClient, state: StateName): Promise<ShootState[]> {
  const read = await Promise.all(statePartNames(state.name).map((name) => readOne(gardenClient, state, name)));
  return read.filter((object) => object !== undefined);
}

/** Lets go of an object in exactly this version and deletes it; one that is gone is fine. */
export async function removePart(gardenClient: KubeClient, { metadata }: ShootState): Promise<void> {
  const { namespace, name, uid, resourceVersion, finalizers = [] } = metadata;
  const ref = refTo(ShootState, { namespace, name });
  const released = {
    uid,
    resourceVersion,
    annotations: { [CONFIRM_DELETION_ANNOTATION]: "true" },
    finalizers: finalizers.filter((one) => one !== SHOOT_STATE_FINALIZER),
  };
  try {
    await gardenClient.patch(ref, { metadata: released });
    await gardenClient.remove(ref, uid === undefined ? {} : { uid });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** The uid of the Shoot that a ShootState belongs to. */
export const shootUidOf = ({ metadata }: ShootState): string | undefined =>
  metadata.annotations?.[SHOOT_UID_ANNOTATION];

/** The latest epoch under which a ShootState was written. */
export const epochOf = ({ metadata }: ShootState): number => writtenEpoch(metadata.annotations);

const MOST_ATTEMPTS = 5;

const sections: readonly StateSection[] = ["gardener", "extensions", "resources"];

const readOne = (gardenClient: KubeClient, { namespace }: StateName, name: string) =>
  gardenClient.read(ShootState, { namespace, name });

const toPart = ({ metadata, spec = {} }: ShootState): StatePart => ({
  name: metadata.name,
  uid: metadata.uid ?? "",
  entries: sections.flatMap((section) => (spec[section] ?? []).map((body) => ({ section, body }))),
});

/**
 * The names of the further objects that a ShootState goes on in, each with its uid: a name is used again for another
 * version, which counts only when the head names it. Throws for a name that no
 * part of this ShootState can have: it would have the reader ask for any number of objects.
 */
export function partsOf({ metadata }: ShootState): Readonly<Record<string, string>> {
  const text = metadata.annotations?.[STATE_PARTS_ANNOTATION];
  if (text === undefined) return {};
  const what = `${STATE_PARTS_ANNOTATION} of ShootState ${metadata.namespace}/${metadata.name}`;
  const parts = Object.entries(parseJson(text, what) ?? {});
  const known = new Set(statePartNames(metadata.name));
  const stranger = parts.find(([name, uid]) => !known.has(name) || typeof uid !== "string");
  if (stranger === undefined) return Object.fromEntries(parts);
  throw new StepError(`cannot read ${what}: ${stranger[0].slice(0, 253)} is none of its parts; find out who wrote it`);
}
