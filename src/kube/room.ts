import type { TypeRef } from "../api/schema/kind.ts";

/** Counts what is kept of the objects of a kind, up to a bound. */
export interface Room {
  /** Counts one more object, in the place of another, and returns its size. Throws, and counts nothing, where that is too much. */
  take(kept: object, instead?: number): number;
  /** Counts an object of this size no more. */
  free(size: number): void;
}

/** Creates room for `most` characters of JSON. */
export function createRoom({ kind }: Pick<TypeRef, "kind">, most: number): Room {
  let taken = 0;
  return {
    take(kept, instead = 0) {
      const size = JSON.stringify(kept).length;
      if (taken - instead + size > most)
        throw new Error(`the cluster has more of kind ${kind} than is read of it: ${most / 1_000_000} MB`);
      taken += size - instead;
      return size;
    },
    free: (size) => void (taken -= size),
  };
}
