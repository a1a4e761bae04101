import { setTimeout as sleep } from "node:timers/promises";
import type { Builds, Deployment } from "../client/builds.ts";
import type { PinnedRun, Runs } from "../client/runs.ts";
import type { Logger } from "../log.ts";
import type { Replayer } from "./replay.ts";

/** Times are ms. */
export interface RolloutDeps {
  /** The id of the build that this worker runs. */
  readonly build: string;
  readonly builds: Builds;
  readonly runs: Runs;
  /** Replays histories against the code of this build. */
  readonly replayer: Replayer;
  /** How long an operation may keep a build that is not current any more. */
  readonly drainPeriod: number;
  /** How long a build may go without a poll before it counts as gone; a worker polls at least once a minute. */
  readonly silence?: number;
  /** How often it looks. */
  readonly period?: number;
  readonly log: Logger;
}

/**
 * Rolls this build out. Once it polls, it becomes current: new workflows begin under it. From then on it moves here what is
 * pinned to other builds: Shoots' workflows at once, operations that keep an old build for too long, and all that a build
 * has left whose workers are gone. An operation only moves when its history replays with this build's code.
 */
export function createRollout(deps: RolloutDeps) {
  const { build, builds, log, silence = 90_000, period = 30_000 } = deps;
  const presence = createPresence(silence);
  const mover = createMover(deps);
  const stopping = new AbortController();

  const look = async (): Promise<Finding> => {
    const deployment = await builds.read();
    if (!deployment?.builds.some(({ id }) => id === build)) return "unsettled"; // its worker has not polled yet
    presence.note(deployment, await builds.readPolls());
    if (deployment.current === build) return "current";
    if (!isToBeCurrent(build, deployment, presence.isGone)) return "not current";
    const isStandIn = deployment.current !== undefined && presence.isGone(deployment.current);
    if (!(await builds.makeCurrent(build, deployment, isStandIn ? standIn : builder))) return "unsettled";
    log.info({ build, before: deployment.current }, "build is current");
    return "current";
  };

  const settled = Promise.withResolvers<void>();
  const work = async (): Promise<number> => {
    const found = await look();
    if (found === "unsettled") return UNSETTLED_PERIOD;
    settled.resolve();
    if (found === "current") await mover.moveAll(presence.isGone, stopping.signal);
    return period;
  };

  return {
    /** Looks until it is stopped. */
    async run(): Promise<void> {
      while (!stopping.signal.aborted) {
        const pause = await work().catch((error: unknown) => {
          log.warn({ err: error }, "cannot roll the build out");
          return PAUSE_AFTER_FAILURE;
        });
        await sleep(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    },
    /** Resolves once this build is current, or has found that another one is and stays so. */
    settled: settled.promise,
    stop: () => stopping.abort(),
  };
}

type Finding = "current" | "not current" | "unsettled";

/** In ms: how soon Temporal hears of a worker's queues. */
const UNSETTLED_PERIOD = 250;

/** In ms. */
const PAUSE_AFTER_FAILURE = 5_000;

/** As whom a build makes itself current: because it is new, or because the current one has no workers. */
const [builder, standIn] = ["perennial worker", "perennial worker, standing in"] as const;

/**
 * Whether a build makes itself current: a new one does so once. Afterwards only where the current one has no workers, or had
 * stood in for a build like this one, which was made later. So it takes nothing from a newer build, nor from an operator.
 */
export function isToBeCurrent(id: string, deployment: Deployment, isGone: (build: string) => boolean): boolean {
  const { current, madeCurrentBy, builds } = deployment;
  const own = builds.find((build) => build.id === id);
  if (own === undefined || current === id) return false;
  if (current === undefined || !own.wasCurrent || isGone(current)) return true;
  const other = builds.find((build) => build.id === current);
  return madeCurrentBy === standIn && other !== undefined && own.createdAt > other.createdAt;
}

/** Tells which builds have workers. It goes by whether the time of a poll changes, so that clocks need not agree. */
function createPresence(silence: number) {
  const seen = new Map<string, { poll: number | undefined; at: number }>();
  return {
    note({ builds }: Deployment, polls: ReadonlyMap<string, number>): void {
      for (const { id } of builds) {
        const poll = polls.get(id);
        if (!seen.has(id) || (poll !== undefined && seen.get(id)?.poll !== poll))
          seen.set(id, { poll, at: performance.now() });
      }
    },
    isGone(build: string): boolean {
      const last = seen.get(build);
      return last !== undefined && performance.now() - last.at > silence;
    },
  };
}

function createMover({ build, runs, replayer, drainPeriod, log }: RolloutDeps) {
  /** Runs that do not go together with this build's code; a longer history would not change that. */
  const refused = new Set<string>();

  const agrees = async (run: PinnedRun): Promise<boolean> => {
    const { divergence } = await replayer.replay(await runs.history(run));
    if (divergence === undefined) return true;
    refused.add(run.runId);
    const { workflowId, build: keeps } = run;
    log.error(
      { workflowId, keeps, build, step: divergence.step, reason: divergence.reason },
      "run cannot move to this build",
    );
    return false;
  };

  const move = async (run: PinnedRun): Promise<void> => {
    if (refused.has(run.runId) || !(await agrees(run))) return;
    await runs.pin(run, build);
    // Its old build may have done another task before it was moved.
    if (await agrees(run)) log.info({ workflowId: run.workflowId, from: run.build, build }, "run moved to this build");
    else await runs.pin(run, undefined);
  };

  return {
    async moveAll(isGone: (build: string) => boolean, stopping: AbortSignal): Promise<void> {
      for await (const run of runs.pinnedElsewhere(build)) {
        if (stopping.aborted) return;
        const late = Date.now() - run.startedAt.getTime() > drainPeriod;
        if (run.isShoot) await runs.beginAnew(run, isGone(run.build) ? "at once" : "at rest");
        else if (late || isGone(run.build)) await move(run);
      }
    },
  };
}
