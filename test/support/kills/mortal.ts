import type { Trap } from "./trap.ts";

/** A process that dies at its writes, and begins anew each time. */
export interface Mortal {
  readonly trap: Trap;
  /** SIGKILL; the next life begins behind it. Deaths at the same time are one. */
  die(): Promise<void>;
  /** Resolves when the life that was begun last is ready; fails where it has not become so. */
  revived(): Promise<void>;
}

/** A process that runs already, and how it is killed and started. */
export function createMortal(process: { readonly trap: Trap; kill(): Promise<void>; start(): Promise<void> }): Mortal {
  let revived = Promise.resolve();
  let death: Promise<void> | undefined;
  async function dieOnce(): Promise<void> {
    await revived; // a life that has just begun has written before it was ready
    await process.kill();
    revived = process.start();
    revived.catch(() => undefined); // revived() tells
  }
  return {
    trap: process.trap,
    async die() {
      death ??= dieOnce().finally(() => (death = undefined));
      await death;
    },
    revived: () => revived,
  };
}
