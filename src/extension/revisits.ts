import type { Key } from "../kube/index.ts";

/** When objects are reconciled again without a request. */
export interface Revisits {
  plan(key: Key, delay: number): void;
  /** Whether the time has come; it is forgotten then. */
  take(key: Key): boolean;
}

/** Remembers which objects an actuator wants to see again, so that only those run without being asked. */
export function createRevisits(): Revisits {
  const due = new Map<string, number>();
  const idOf = ({ namespace, name }: Key) => `${namespace}/${name}`;
  return {
    plan: (key: Key, delay: number) => void due.set(idOf(key), Date.now() + delay),
    take: (key: Key) => (due.get(idOf(key)) ?? Infinity) <= Date.now() + 10 && due.delete(idOf(key)),
  };
}
