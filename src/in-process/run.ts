import { setTimeout as sleep } from "node:timers/promises";
import { FlowError, runFlow, type Flow } from "../flow/flow.ts";
import { afterFailure, type Retryable } from "../flow/retry.ts";
import type { Journal, JournalEntry } from "./journal.ts";

/** What a step is given while it is carried out. */
export interface StepScope {
  /** Aborted when the run is. */
  readonly signal: AbortSignal;
  /** Says what the step waits for, to those who watch. */
  tell(message: string): void;
}

/** A failure as those who watch and the journal have it. */
export interface StepTrouble extends Retryable {
  /** One sentence, without secrets. */
  readonly message: string;
  /** Gardener's. */
  readonly codes: readonly string[];
}

/** Where a step is, besides what the engine itself says of it. */
export type ShownState = JournalEntry["state"];

/** A change of a step, as it is shown. */
export interface StepChange {
  readonly step: string;
  readonly state: ShownState;
  readonly attempt?: number;
  readonly message?: string;
  /** None where there are none to tell. */
  readonly codes?: readonly string[];
}

/** How a flow is run in this process. */
export interface InProcessOptions<Action> {
  readonly journal: Journal;
  /** Names the run in the journal. */
  readonly run: string;
  /** Does what a step says. It looks at the world first: what is done already is not done again. */
  readonly carryOut: (action: Action, scope: StepScope, step: string) => Promise<void>;
  /** What a failure means; the message that it answers with is written down. */
  readonly judge: (error: unknown) => StepTrouble;
  /** How long, in ms, what is worth a retry is retried before the step parks. */
  readonly retryDuration: number;
  readonly onChange?: (change: StepChange) => void;
  readonly signal: AbortSignal;
  /** In ms; for tests, which have their own clock. */
  readonly now?: () => number;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** A step that waits for people; the same command goes on there. */
export class ParkedError extends Error {
  override readonly name = "ParkedError";
  readonly parked: ReadonlyMap<string, string>;

  constructor(title: string, parked: ReadonlyMap<string, string>, options?: ErrorOptions) {
    super(
      `${title}: ${[...parked].map(([step, message]) => `step ${step} cannot go on: ${message}`).join("; ")}`,
      options,
    );
    this.parked = parked;
  }
}

/**
 * Runs a flow in this process, as workers of Temporal run it elsewhere: what is worth a retry is tried again after a pause, all
 * else parks its step, and what does not come after that goes on. Throws a ParkedError with each that did, and the signal's
 * reason when it was aborted before all was done. Each change is in the journal before the step goes on: where no line can be
 * written, the step parks.
 */
export async function runInProcess<Subject, Action>(
  flow: Flow<Subject, Action>,
  subject: Subject,
  options: InProcessOptions<Action>,
): Promise<void> {
  const { journal, run, judge, signal, onChange = () => {}, now = Date.now } = options;
  const written: Promise<void>[] = [];
  const note = (change: StepChange): Promise<void> => {
    onChange(change);
    const line = journal.append({ time: new Date(now()).toISOString(), run, flow: flow.title, ...change });
    written.push(line.catch(() => {}));
    return line;
  };
  const parked = new Map<string, string>();
  let isStopped = false;
  try {
    await runFlow(flow, subject, {
      carryOut: async (action, step) => {
        try {
          await untilDone(options, { action, step, note });
        } catch (error) {
          if (!signal.aborted) parked.set(step, judge(error).message);
          throw error;
        }
      },
      // Of what is carried out, `untilDone` says more.
      onChange: (step, state) => {
        isStopped ||= state === "stopped";
        if (!["running", "failed"].includes(state)) void note({ step, state }).catch(() => {});
      },
      stopped: () => signal.aborted,
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof FlowError)) throw error;
    throw new ParkedError(flow.title, parked, { cause: error });
  } finally {
    await Promise.all(written);
  }
  // Asked to end, it may still have had nothing left to do.
  if (isStopped) signal.throwIfAborted();
}

interface Work<Action> {
  readonly action: Action;
  readonly step: string;
  readonly note: (change: StepChange) => Promise<void>;
}

async function untilDone<Action>(options: InProcessOptions<Action>, work: Work<Action>): Promise<void> {
  const { carryOut, judge, retryDuration, signal, onChange = () => {}, now = Date.now, pause = wait } = options;
  const { action, step, note } = work;
  const since = now();
  for (let attempt = 1; ; attempt += 1) {
    await note({ step, state: "running", ...(attempt > 1 && { attempt }) });
    try {
      const tell = (message: string) => onChange({ step, state: "running", message });
      return await carryOut(action, { signal, tell }, step);
    } catch (error) {
      signal.throwIfAborted();
      const { message, codes, ...failure } = judge(error);
      const next = afterFailure(failure, { attempt, elapsed: now() - since, retryDuration });
      const state = next.then === "park" ? "parked" : "retrying";
      const noted = note({ step, state, attempt, message, ...(codes.length > 0 && { codes }) });
      if (next.then === "park") {
        await noted.catch(() => {}); // why the step parks says more than why that cannot be written
        throw error;
      }
      await noted;
      await pause(next.delay, signal);
    }
  }
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
  signal.throwIfAborted();
}
