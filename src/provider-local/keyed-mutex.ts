/** Work of which only one at a time may run for a key, in this process. */
export interface KeyedMutex {
  /** Runs the work when all earlier work for the key has ended, however it ended. */
  runExclusive<R>(key: string, work: () => Promise<R>): Promise<R>;
  isLocked(key: string): boolean;
}

/** A mutex of this process; it remembers a key for as long as work for it runs or waits. */
export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>();
  return {
    runExclusive(key, work) {
      const turn = (last.get(key) ?? Promise.resolve()).then(work, work);
      last.set(key, turn);
      const leave = () => {
        if (last.get(key) === turn) last.delete(key);
      };
      turn.then(leave, leave);
      return turn;
    },
    isLocked: (key) => last.has(key),
  };
}
