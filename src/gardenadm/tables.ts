import { randomUUID } from "node:crypto";
import type { Shoot } from "../api/index.ts";
import { createProgressDisplay } from "../cli/display/progress.ts";
import type { ShownFlow } from "../cli/display/progress-lines.ts";
import type { Flow } from "../flow/flow.ts";
import { openJournal } from "../in-process/journal.ts";
import { runInProcess, type StepChange, type StepScope } from "../in-process/run.ts";
import type { GardenadmContext } from "./context.ts";
import { judge } from "./init/fault.ts";

/** In ms: how long what may pass by itself is tried again before its step parks. */
const RETRY_DURATION = 120_000;

/** Runs the tables of one command, one after another. */
export interface Tables {
  /** Runs a table to its end, with its steps on the terminal and in the machine's journal. Throws as `runInProcess` does. */
  run<Subject, Action>(
    flow: Flow<Subject, Action>,
    subject: Subject,
    carryOut: (action: Action, scope: StepScope, step: string) => Promise<void>,
  ): Promise<void>;
}

/** All tables of a command are one run in the journal. */
export function createTables(
  context: GardenadmContext,
  { journal, shoot }: { readonly journal: string; readonly shoot: Pick<Shoot, "metadata"> },
): Tables {
  const run = randomUUID();
  const { name, namespace } = shoot.metadata;
  return {
    async run(flow, subject, carryOut) {
      const watched = watch(context, flow, `${namespace}/${name}`);
      try {
        await runInProcess(flow, subject, {
          ...{ run, judge, carryOut },
          journal: await openJournal(journal),
          retryDuration: RETRY_DURATION,
          onChange: watched.change,
          signal: context.signal,
          now: () => context.now(),
        });
      } finally {
        watched.end();
      }
    },
  };
}

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
    change({ step, state, message, attempt }: StepChange) {
      const since = steps.get(step)?.state === state ? steps.get(step)?.since : new Date(now()).toISOString();
      steps.set(step, {
        name: step,
        state,
        ...(since === undefined ? {} : { since }),
        ...(attempt === undefined ? {} : { attempt }),
        ...(message === undefined ? {} : { error: { message, codes: [] } }),
      });
      show();
    },
    end() {
      clearInterval(timer);
      display.end();
    },
  };
}
