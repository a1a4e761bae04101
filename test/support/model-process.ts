import type { Clock } from "../../src/extension/lease.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** When a process stands still, as under SIGSTOP, a long garbage collection or a starved machine. */
export interface Pause {
  /** In ms; or, `afterCheck`, the first time after it that the process has just looked at its permit. */
  readonly at: number;
  readonly length: number;
  readonly afterCheck: boolean;
}

/** A process of the model: its clock drifts, and while it stands still nothing reaches it. */
export interface ModelProcess {
  readonly clock: Clock;
  sleep(duration: number): Promise<void>;
  /** Hands something to the process, as soon as it is awake. */
  deliver(work: () => void): void;
  /** It will stand still once more. */
  pause(pause: Pause): void;
  /** Where a pause hurts most: between a look at the permit and the call that it allows. */
  afterCheck(): Promise<void>;
}

/** A process whose clock runs at `rate`, also while it stands still. */
export function createModelProcess(time: VirtualTime, rate: number): ModelProcess {
  let awakeAt = 0;
  const waiting: Pause[] = [];
  const standStill = (length: number) => void (awakeAt = Math.max(awakeAt, time.now()) + length);

  const deliver = (work: () => void): void => {
    if (time.now() >= awakeAt) work();
    else time.at(awakeAt, () => deliver(work));
  };

  const sleep = (duration: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal?.aborted) return resolve();
      const end = () => {
        timer.cancel();
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = time.at(time.now() + duration / rate, () => deliver(end));
      signal?.addEventListener("abort", end);
    });

  return {
    deliver,
    sleep,
    clock: { now: () => time.now() * rate, sleep },
    pause(pause) {
      if (pause.afterCheck) waiting.push(pause);
      else time.at(pause.at, () => standStill(pause.length));
    },
    async afterCheck() {
      const due = waiting.findIndex(({ at }) => at <= time.now());
      const [found] = due === -1 ? [] : waiting.splice(due, 1);
      if (found === undefined) return;
      standStill(found.length);
      await new Promise<void>(deliver);
    },
  };
}
