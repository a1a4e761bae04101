import { activityInfo, CompleteAsyncError } from "@temporalio/activity";
import type { Worker } from "../api/index.ts";
import type { KubeObject } from "../api/meta.ts";
import type { ShootRun } from "../api/shoot-run.ts";
import { createReflector, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { configurationProblem } from "./failure.ts";
import type { WaitTarget } from "./index.ts";
import { nodesReady } from "./nodes.ts";
import type { Standing } from "./readiness.ts";
import type { ShootClients } from "./shoot-clients.ts";
import type { Completer } from "./waits.ts";

/** What waiting for nodes needs. */
export interface NodeWaitDeps {
  readonly seed: KubeClient;
  readonly shootClients: ShootClients;
  readonly completer: Completer;
  readonly log: Logger;
}

/**
 * Waits for the nodes of a Shoot, which live in its own cluster: the watch is opened by whoever waits, and closed when
 * the nodes are ready or the wait's attempt is over; the next attempt, in whatever process, opens it again.
 */
export function createNodeWaits({ seed, shootClients, completer, log }: NodeWaitDeps) {
  const standing = async (run: ShootRun, target: WaitTarget): Promise<Standing> => {
    const [pools, shoot] = await Promise.all([readPools(seed, run, target), shootClients.get(run.technicalID)]);
    return nodesReady(await shoot.list<KubeObject>(nodeType), pools);
  };

  const watch = async (run: ShootRun, target: WaitTarget) => {
    const { workflowExecution, startToCloseTimeoutMs } = activityInfo();
    if (workflowExecution === undefined) throw new Error("only an activity of a workflow can wait");
    const waiter = { ...workflowExecution, activityId: target.activityId };
    const pools = await readPools(seed, run, target);
    const reflector = createReflector<KubeObject>(await shootClients.get(run.technicalID), nodeType, {
      log,
      async onEvent() {
        if (!nodesReady(reflector.list(), pools).reached) return;
        stop();
        await completer.complete(waiter);
      },
    });
    const stop = () => {
      clearTimeout(timer);
      void reflector.stop();
    };
    const timer = setTimeout(stop, startToCloseTimeoutMs).unref();
    reflector.start();
  };

  return {
    standing,
    /** Returns when the nodes are ready; otherwise leaves the activity to be completed from outside. */
    async wait(run: ShootRun, target: WaitTarget): Promise<void> {
      if ((await standing(run, target)).reached) return;
      await watch(run, target);
      throw new CompleteAsyncError();
    },
  };
}

const nodeType = { apiVersion: "v1", kind: "Node" } as const;

async function readPools(seed: KubeClient, run: ShootRun, { apiVersion, kind, name }: WaitTarget) {
  const worker = await seed.read<Worker>({ apiVersion, kind, name, namespace: run.technicalID });
  if (worker === undefined) throw configurationProblem(`Worker ${run.technicalID}/${name} does not exist`);
  return worker.spec.pools;
}
