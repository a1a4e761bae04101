import { activityInfo, ApplicationFailure, type ActivityInfo } from "../temporal.ts";
import type { ShootRun, StepFailure } from "../../api/shoot/run.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { Trouble, WaitTarget } from "../index.ts";
import { explainReadiness, summarize } from "./judgement.ts";
import { findPodTrouble, type PodTrouble } from "./pod-trouble.ts";
import type { Readiness } from "./readiness.ts";

/** Who knows how objects stand: `readinessOf` to what is waited for in a run, the seed's pods to why, `nodeTrouble` of nodes. */
export interface ObstacleDeps {
  readonly seedClient: KubeClient;
  readonly readinessOf: (run: ShootRun, target: WaitTarget) => Promise<Readiness>;
  readonly nodeTrouble: (run: ShootRun) => Promise<PodTrouble | undefined>;
  /** The activity that waits; the calling one by default. */
  readonly asking?: () => Pick<ActivityInfo, "attempt">;
}

/** What stands between objects and the states that are waited for, in their own words and those of their pods. */
export function createObstacles({ seedClient, readinessOf, nodeTrouble, asking = activityInfo }: ObstacleDeps) {
  const troubleOf = async (run: ShootRun, target: WaitTarget) => {
    if (target.until === "nodesReady") return await nodeTrouble(run).catch(() => undefined); // ends no wait
    if (target.until !== "rolledOut" && target.until !== "completed") return undefined;
    const object = await seedClient.read(target);
    return object && (await findPodTrouble(seedClient, object));
  };

  return {
    /** A sentence for each target that is late. */
    async explain(run: ShootRun, targets: readonly WaitTarget[]): Promise<StepFailure> {
      const late = await Promise.all(
        targets.map(async (target) => {
          const readiness = await readinessOf(run, target);
          const trouble = readiness.reached ? undefined : await troubleOf(run, target);
          const message = [explainReadiness(target, readiness), trouble?.message].filter(Boolean).join(": ");
          const codes = readiness.reached ? [] : [...(readiness.error?.codes ?? []), ...(trouble?.codes ?? [])];
          return { message, codes, readiness };
        }),
      );
      const missing = late.filter(({ readiness }) => !readiness.reached);
      return summarize(missing.length > 0 ? missing : late);
    },

    /**
     * Throws a {@link Trouble} that pods of the targets, or nodes, have and the waiting flow was not told of. Not at a wait's very first
     * looks: pods of what was there before may be there still, and machines take a minute to boot.
     */
    async tell(run: ShootRun, targets: readonly WaitTarget[], told: readonly string[]): Promise<void> {
      const { attempt } = asking();
      for (const target of targets.filter(({ until }) => attempt > quietLooks(until))) {
        const readiness = await readinessOf(run, target);
        const trouble = readiness.reached ? undefined : await troubleOf(run, target);
        const about = `${target.kind} ${target.name}, ${trouble?.about}`;
        if (trouble === undefined || told.includes(about)) continue;
        const message = `${explainReadiness(target, readiness)}: ${trouble.message}`;
        throw troubled({ about, message, codes: trouble.codes, retryable: true });
      }
    },
  };
}

/** A look comes every fifteen seconds. */
const quietLooks = (until: WaitTarget["until"]): number => (until === "nodesReady" ? 4 : 1);

/** Not retried as it is: the flow waits on, and says what it was told of. */
const troubled = (trouble: Trouble) => ApplicationFailure.nonRetryable(trouble.message, "Trouble", trouble);
