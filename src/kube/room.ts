import type { TypeRef } from "../api/schema/kind.ts";

/** Limits the memory that objects of a kind use. */
export interface Room {
  /** Adds an object, in place of one of size `instead`, and returns its size. Throws, and adds nothing, if the limit is exceeded. */
  take(kept: object, instead?: number): number;
  /** Removes an object of this size. */
  free(size: number): void;
}

/** Creates a limit of `most` characters of JSON. */
export function createRoom({ kind }: Pick<TypeRef, "kind">, most: number): Room {
  let taken = 0;
  return {
    take(kept, instead = 0) {
      const size = JSON.stringify(kept).length;
      if (taken - instead + size > most)
        throw new Error(`the cluster has more of kind ${kind} than is read of it: ${most / 1_000_000} MB; remove some`);
      taken += size - instead;
      return size;
    },
    free: (size) => void (taken -= size),
  };
}
