import { setTimeout as delay } from "node:timers/promises";
import type { WaitTarget } from "../../activities/index.ts";
import { StepError } from "../../activities/step-error.ts";
import { explainReadiness, isForItsEnd, judge, verdict } from "../../activities/waits/judgement.ts";
import type { Readiness } from "../../activities/waits/readiness.ts";
import type { StepScope } from "../../in-process/run.ts";
import { KubeError, type KubeClient } from "../../kube/index.ts";
import { tellNews } from "../../tell-news.ts";

/** In ms: how often is looked. */
const PERIOD = 500;

/**
 * Returns when all targets are reached, and tells what is missing meanwhile; judged as Temporal's workers judge it elsewhere. Throws a
 * StepError where a controller has reported an error for too long, or the time of a target is over.
 */
export async function untilReached(
  client: Pick<KubeClient, "read">,
  targets: readonly WaitTarget[],
  { signal, tell }: StepScope,
): Promise<void> {
  const since = Date.now();
  const left = new Set(targets);
  const tellMissing = tellNews(tell);
  for (;;) {
    const missing: string[] = [];
    for (const target of left) {
      const readiness = await look(client, target);
      const outcome = verdict({ target, since }, readiness);
      if (outcome instanceof StepError) throw outcome;
      if (outcome === "reached") left.delete(target);
      else missing.push(explainReadiness(target, readiness));
      if (outcome !== "reached" && Date.now() - since > target.deadline)
        throw new StepError(`${explainReadiness(target, readiness)}, after ${target.deadline / 60_000} minutes`);
    }
    if (missing.length === 0) return;
    tellMissing(missing.join("; "));
    await delay(PERIOD, undefined, { signal });
  }
}

/** An API server that is away for a moment says nothing of the object. */
async function look(client: Pick<KubeClient, "read">, target: WaitTarget): Promise<Readiness> {
  const { apiVersion, kind, name, namespace } = target;
  try {
    const object = await client.read({ apiVersion, kind, name, ...(namespace !== undefined && { namespace }) });
    if (object !== undefined) return judge(target, object);
    return isForItsEnd(target) ? { reached: true } : { reached: false, message: "it does not exist" };
  } catch (error) {
    if (error instanceof KubeError && error.retryable) return { reached: false, message: error.message };
    throw error;
  }
}
