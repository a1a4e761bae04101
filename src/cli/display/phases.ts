import type { PhaseName, PhaseProgress } from "../../local/environment/phases.ts";
import { paint } from "./style.ts";
import type { Terminal } from "./terminal.ts";
import { formatDuration } from "./time.ts";

/** Shows phases that follow one another, such as those of `local up`. */
export interface PhaseDisplay {
  tell(progress: PhaseProgress): void;
  /** Leaves the last picture on the screen; with an error, the phase at work is marked as failed. */
  end(error?: Error): Promise<void>;
}

/** What a display needs to know beforehand: which phases there will be, and what they are called. */
export interface PhaseList {
  readonly names: readonly PhaseName[];
  readonly titles: Readonly<Record<PhaseName, string>>;
}

/** On a live terminal a list that is redrawn, with the time of each phase; anywhere else a line when one begins and ends. */
export async function createPhaseDisplay({ out, err }: Terminal, list: PhaseList): Promise<PhaseDisplay> {
  return out.live ? createLiveDisplay(list) : createPlainDisplay(err, list);
}

async function createLiveDisplay({ names, titles }: PhaseList): Promise<PhaseDisplay> {
  const { Listr } = await import("listr2");
  const phases = new Map(names.map((name) => [name, createPhase(titles[name])]));
  const list = new Listr(
    [...phases.values()].map(({ title, ended, shown }) => ({
      title,
      task: async (_context: unknown, task: { title?: string; output: string }) => {
        shown.task = task;
        const timer = setInterval(() => (task.title = withTime(title, shown.elapsed())), 1_000);
        await ended.finally(() => clearInterval(timer));
        task.title = withTime(title, shown.elapsed());
      },
    })),
    // Ctrl-C is the verb's to answer: it says how to go on.
    { registerSignalListeners: false, rendererOptions: { collapseErrors: false, formatOutput: "truncate" } },
  );
  const running = list.run().catch(() => undefined); // the verb reports the error
  return {
    tell({ phase, state, detail, elapsed }) {
      const known = phases.get(phase);
      if (!known) return;
      if (state !== "done") known.shown.begun = performance.now() - elapsed;
      if (known.shown.task && detail !== undefined) known.shown.task.output = detail;
      if (state === "done") known.succeed();
    },
    async end(error) {
      for (const { fail, succeed } of phases.values()) {
        if (error === undefined) succeed();
        else fail(error);
      }
      await running;
    },
  };
}

interface Shown {
  begun: number | undefined;
  task: { title?: string; output: string } | undefined;
  elapsed(): number;
}

/** A phase that ends when it is told to. */
function createPhase(title: string) {
  const { promise: ended, resolve: succeed, reject: fail } = Promise.withResolvers<void>();
  ended.catch(() => {}); // a phase that never began is not awaited
  const shown: Shown = {
    begun: undefined,
    task: undefined,
    elapsed: () => (shown.begun === undefined ? 0 : performance.now() - shown.begun),
  };
  return { title, ended, succeed, fail, shown };
}

/** How often a phase at work may say what it is at, where every line stays on the screen; in ms. */
const detailPeriod = 5_000;

function createPlainDisplay(out: Terminal["err"], { titles }: PhaseList): PhaseDisplay {
  const said = new Map<PhaseName, { at: number; detail: string }>();
  return {
    tell({ phase, state, detail, elapsed }) {
      if (state === "begun") out.write(`▸ ${titles[phase]}\n`);
      if (state === "done") out.write(`✔ ${titles[phase]} (${formatDuration(elapsed)})\n`);
      if (state !== "working" || detail === undefined) return;
      const last = said.get(phase);
      if (last && (last.detail === detail || elapsed - last.at < detailPeriod)) return;
      said.set(phase, { at: elapsed, detail });
      out.write(paint(out, "quiet", `  ${detail}\n`));
    },
    end: async () => {},
  };
}

function withTime(title: string, elapsed: number): string {
  return elapsed < 1_000 ? title : `${title} (${formatDuration(elapsed)})`;
}
