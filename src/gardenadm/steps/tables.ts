import { randomUUID } from "node:crypto";
import { createProgressDisplay } from "../../cli/display/progress.ts";
import type { ShownFlow } from "../../cli/display/progress-lines.ts";
import type { Flow } from "../../flow/flow.ts";
import { openJournal } from "../../in-process/journal.ts";
import { CliError } from "../../cli/exit.ts";
import { LockedError } from "../../in-process/lock.ts";
import { ParkedError, runInProcess, type StepChange, type StepScope } from "../../in-process/run.ts";
import type { GardenadmContext } from "../context.ts";
import { judge } from "./fault.ts";

/** In ms: how long what may pass by itself is tried again before its step parks. */
const RETRY_DURATION = 120_000;

/** Runs the tables of one command, one after another. */
export interface Tables {
  /** Runs a table to its end, with its steps on the terminal and in the machine's journal; tells of each change, too. Throws as `runInProcess` does. */
  run<Subject, Action>(
    flow: Flow<Subject, Action>,
    subject: Subject,
    carryOut: (action: Action, scope: StepScope, step: string) => Promise<void>,
    onChange?: (change: StepChange) => void,
  ): Promise<void>;
}

/** What carries out the rows of a table, and is closed when it has ended. */
export interface Actions<Action extends string> {
  readonly actions: Readonly<Record<Action, (scope: StepScope) => Promise<void>>>;
  /** The scope of a row as things are when it begins. */
  within?(scope: StepScope): StepScope;
  close(): Promise<void>;
}

/** Runs a table by the actions that its rows name, and closes these, whatever comes of it. */
export async function runActions<Subject, Action extends string>(
  tables: Tables,
  flow: Flow<Subject, { readonly action: Action }>,
  subject: Subject,
  { actions, within = (scope) => scope, close }: Actions<Action>,
): Promise<void> {
  try {
    await tables.run(flow, subject, async ({ action }, scope) => await actions[action](within(scope)));
  } finally {
    await close();
  }
}

/** How tables are shown, and where it is noted what became of them. */
export interface TablesOptions {
  /** The file of the machine's journal. */
  readonly journal: string;
  /** Whom people read that it is about. */
  readonly about: string;
  /** The command line by which a run goes on that was cut off, without secrets: each line of the journal has it. */
  readonly command: string;
}

/** All tables of a command are one run in the journal. */
export function createTables(context: GardenadmContext, { journal: file, about, command }: TablesOptions): Tables {
  const run = randomUUID();
  return {
    async run(flow, subject, carryOut, onChange = () => {}) {
      const watched = watch(context, flow, about);
      const journal = await openJournal(file);
      try {
        await runInProcess(flow, subject, {
          ...{ run, judge, carryOut },
          journal: { append: async (entry) => await journal.append({ ...entry, command }) },
          retryDuration: RETRY_DURATION,
          onChange(change) {
            watched.change(change);
            onChange(change);
          },
          signal: context.signal,
          now: () => context.now(),
        });
      } finally {
        watched.end();
      }
    },
  };
}

/** An error of a command as its operator reads it: the step that waits, and that the same command goes on there. */
export function inWords(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return new CliError("interrupted", "interrupted; the same command goes on there");
  if (error instanceof LockedError) return new CliError("failed", lockedWords(error), { cause: error });
  if (!(error instanceof ParkedError)) return error;
  const parked = [...error.parked].map(([step, message]) => `step ${step}: ${message}`);
  return new CliError("failed", `${parked.join("; ")}; mend that, and the same command goes on there`, {
    cause: error,
  });
}

const lockedWords = ({ holder }: LockedError): string =>
  `another gardenadm command is at work on this machine (${holder}): wait until it has ended`;

/** Shows the run as it goes, with what each step waits for beside it. */
function watch<Subject, Action>({ terminal, now }: GardenadmContext, flow: Flow<Subject, Action>, subject: string) {
  const display = createProgressDisplay(terminal.err, subject);
  const startedAt = new Date(now()).toISOString();
  const steps = new Map<string, ShownFlow["steps"][number]>(
    [...flow.steps.keys()].map((name) => [name, { name, state: "pending" }]),
  );
  const show = () => display.show({ operation: flow.title, startedAt, steps: [...steps.values()] }, now());
  const timer = setInterval(show, 1_000);
  return {
    change({ step, state, message, codes = [], attempt }: StepChange) {
      const since = steps.get(step)?.state === state ? steps.get(step)?.since : new Date(now()).toISOString();
      steps.set(step, {
        name: step,
        state,
        ...(since === undefined ? {} : { since }),
        ...(attempt === undefined ? {} : { attempt }),
        ...(message === undefined ? {} : { error: { message, codes } }),
      });
      show();
    },
    end() {
      clearInterval(timer);
      display.end();
    },
  };
}
