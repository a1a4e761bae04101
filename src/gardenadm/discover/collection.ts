import type { KeyOf, Kind, Scope } from "../../api/schema/kind.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { unlessForbidden, type KubeClient } from "../../kube/index.ts";
import type { ConfiguredObject } from "../configuration/documents.ts";
import { createFault, nameOf, type Fault } from "../configuration/fault.ts";

/** An object that the Shoot needs: the operator's, where there is one, else the garden's. */
export interface Taken {
  readonly object: KubeObject;
  /** The operator's file that it stands in. */
  readonly file?: string;
  /** What the garden has of that name. */
  readonly inGarden?: KubeObject;
}

/** What names an object, for the sentence about one that is not there. */
export interface NamedBy {
  readonly by: KubeObject;
  readonly field: string;
  readonly isRequired: boolean;
}

/** Objects that are needed, gathered from the operator's files and the garden, with what was not to be found. */
export type Collection = ReturnType<typeof createCollection>;

/** A collection that is empty; what the operator has written counts before what is in the garden. */
export function createCollection(garden: KubeClient, written: readonly ConfiguredObject[]) {
  const taken = new Map<string, Taken>();
  const faults: Fault[] = [];
  const notes: string[] = [];
  const writtenAs = (called: string) => written.find(({ object }) => nameOf(object) === called);

  return {
    garden,
    written,
    /** By their kind and name. */
    taken,
    /** Why the Shoot cannot be made of what there is. */
    faults,
    /** What is left out, and does not stand against the Shoot. */
    notes,

    /** Keeps an object under its name, unless the operator has written it; `inGarden` is what the garden has of it. */
    keep(object: KubeObject, inGarden: KubeObject | undefined): void {
      const called = nameOf(object);
      taken.set(called, { object, ...writtenAs(called), ...(inGarden && { inGarden }) });
    },

    /** Reads an object and keeps it; undefined where there is none, which is said unless `named` is left out. */
    async take<T extends KubeObject, S extends Scope>(
      kind: Kind<T, S>,
      key: KeyOf<S>,
      named?: NamedBy,
    ): Promise<T | undefined> {
      const called = nameOf({ ...kind, metadata: key });
      const own = writtenAs(called);
      const reading = garden.read(kind, key);
      const inGarden = await (own === undefined ? reading : reading.catch(unlessForbidden));
      const object = own?.object ?? inGarden;
      if (object !== undefined) taken.set(called, { object, ...own, ...(inGarden && { inGarden }) });
      else if (named !== undefined) this.miss(called, named);
      return object as T | undefined;
    },

    /** Says that an object is neither in the garden nor in the folder. */
    miss(called: string, { by, field, isRequired }: NamedBy): void {
      const place = { object: nameOf(by), field };
      const message = `asks for ${called}, which is not in the garden`;
      if (isRequired) faults.push(createFault(place, `${message}: create it there, or write it into the folder`));
      else this.note(place.object, `${field} ${message}: left out`);
    },

    /** Says what is left out, and does not stand against the Shoot. */
    note(about: string, message: string): void {
      notes.push(createFault({ object: about }, message).sentence);
    },
  };
}
